#!/usr/bin/env node
"use strict";
// The launcher behind bin.orch, .agents/orch and the Neovim plugin. Written for old Nodes (10 and newer can parse it):
// no packages, no syntax younger than that. It finds a Node at or above the floor and never downloads one.
var childProcess = require("child_process");
var fs = require("fs");
var os = require("os");
var path = require("path");
var url = require("url");

var FLOOR = [22, 19];
var EXIT_PRECONDITION = 5;
var main = path.join(__dirname, "main.mjs");

if (enough(process.versions.node)) {
  hideExperimentalWarnings();
  import(url.pathToFileURL(main).href).catch(function (error) {
    console.error(error && error.stack ? error.stack : error);
    process.exitCode = 70;
  });
} else {
  var node = find();
  if (node) hand(node);
  else refuse();
}

function enough(version) {
  var parts = String(version).split(".").map(Number);
  return parts[0] > FLOOR[0] || (parts[0] === FLOOR[0] && parts[1] >= FLOOR[1]);
}

// node:sqlite warns that it is experimental; the flag for it cannot be set in a process that already runs.
function hideExperimentalWarnings() {
  var emit = process.emitWarning;
  process.emitWarning = function (warning, options) {
    var type = typeof options === "string" ? options : options && options.type;
    if (type === "ExperimentalWarning" || (warning && warning.name === "ExperimentalWarning")) return;
    emit.apply(process, arguments);
  };
}

function find() {
  var candidates = [process.env.ORCH_NODE].concat(cached(), onPath()).filter(Boolean);
  for (var i = 0; i < candidates.length; i++) {
    if (answers(candidates[i])) return candidates[i];
  }
  return undefined;
}

function cached() {
  var home = process.env.XDG_CACHE_HOME || path.join(os.homedir(), ".cache");
  var found = [];
  ["orch", "orch-build"].forEach(function (folder) {
    var names = [];
    try {
      names = fs.readdirSync(path.join(home, folder));
    } catch (error) {
      return;
    }
    names.forEach(function (name) {
      if (/^node-[0-9]/.test(name)) found.push(path.join(home, folder, name, "bin", executable()));
    });
  });
  return found.sort().reverse();
}

function onPath() {
  return (process.env.PATH || "")
    .split(path.delimiter)
    .filter(Boolean)
    .map(function (folder) {
      return path.join(folder, executable());
    });
}

function executable() {
  return process.platform === "win32" ? "node.exe" : "node";
}

function answers(candidate) {
  if (!fs.existsSync(candidate)) return false;
  var reply = childProcess.spawnSync(candidate, ["-p", "process.versions.node"], { encoding: "utf8", timeout: 5000 });
  return reply.status === 0 && enough(reply.stdout.trim());
}

function hand(newer) {
  var args = ["--disable-warning=ExperimentalWarning", main].concat(process.argv.slice(2));
  var child = childProcess.spawn(newer, args, { stdio: "inherit" });
  ["SIGTERM", "SIGHUP"].forEach(function (signal) {
    process.on(signal, function () {
      child.kill(signal);
    });
  });
  // A terminal sends Ctrl-C to the child as well, and a second one would mean something else to it.
  process.on("SIGINT", function () {
    if (!process.stdin.isTTY) child.kill("SIGINT");
  });
  child.on("error", function (error) {
    console.error("Could not start " + newer + ": " + error.message);
    process.exitCode = EXIT_PRECONDITION;
  });
  child.on("exit", function (code, signal) {
    process.exitCode = signal ? 128 + (os.constants.signals[signal] || 0) : code;
  });
}

function refuse() {
  console.error("Orch needs Node " + FLOOR.join(".") + " or newer; this is " + process.versions.node + ".");
  console.error("Next: npm install --global node@24, or set ORCH_NODE to a newer Node's path.");
  process.exitCode = EXIT_PRECONDITION;
}
