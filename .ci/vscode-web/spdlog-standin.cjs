"use strict";
// Stands in for @vscode/spdlog's index.js in the test-only VS Code server, so that nothing has to be compiled. Without
// it every log file and output channel of the extension host stays empty and its messages pile up in memory.
const fs = require("node:fs");
const path = require("node:path");

const LEVELS = ["trace", "debug", "info", "warning", "error", "critical"];

class Logger {
  #level = 2;
  #plain = false;
  #file;

  constructor(_type, _name, file) {
    this.#file = file;
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.appendFileSync(file, "");
  }

  #write(level, message) {
    if (level < this.#level || !this.#file) return;
    const stamp = new Date().toISOString().replace("T", " ").slice(0, 23);
    const line = this.#plain ? message : `${stamp} [${LEVELS[level]}] ${message}\n`;
    try {
      fs.appendFileSync(this.#file, line);
    } catch {
      // The scratch folder goes away before the host does.
    }
  }

  trace = (message) => this.#write(0, message);
  debug = (message) => this.#write(1, message);
  info = (message) => this.#write(2, message);
  warn = (message) => this.#write(3, message);
  error = (message) => this.#write(4, message);
  critical = (message) => this.#write(5, message);
  getLevel = () => this.#level;
  setLevel = (level) => {
    this.#level = level;
  };
  setPattern = () => {};
  clearFormatters = () => {
    this.#plain = true;
  };
  flush = () => {};
  drop = () => {
    this.#file = undefined;
  };
}

const create = async (name, file) => new Logger("rotating", name, file);

// One assignment each: `import()` finds the names of a CommonJS module by their text.
exports.version = 0;
exports.Logger = Logger;
exports.setLevel = () => {};
exports.setFlushOn = () => {};
exports.createRotatingLogger = create;
exports.createAsyncRotatingLogger = create;
