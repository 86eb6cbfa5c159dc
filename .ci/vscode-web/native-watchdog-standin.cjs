"use strict";
// Stands in for @vscode/native-watchdog's index.js in the test-only VS Code server: the extension host still notices
// that its server is gone, because it looks at its parent now and then.
exports.start = () => {};
exports.exit = (code) => process.exit(code ?? 0);
