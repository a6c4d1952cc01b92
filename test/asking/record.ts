// Records the corpus: runs each script of scripts/ with its real host on a scripted model, and writes what the host gave to our hook.
//   node test/hosts/install.ts && node test/asking/record.ts [--only ts-lib] [--probe]
// No command of a script runs: the hook puts `true` in its place, as an operator may do. Reads and edits happen, because a host checks
// an edit before it asks.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { withOurs } from '../../src/cli/commands/connect/edit-config.ts'
import { type HostName, hosts as known } from '../../src/hosts/hosts.ts'
import { hosts, programOf } from '../hosts/hosts.ts'
import { startScriptedModel } from '../hosts/scripted-model.ts'
import { stepOf } from './host-words.ts'
import { corpusFolder, type RecordedCall } from './recorded-call.ts'
import { readScripts, type Task } from './scripts.ts'
import { makeFiles } from './workspaces.ts'

const LONGEST_RUN_MS = 480_000

/** Writes down what it is given; a shell gets another command. $1: the log, $2: the answer to a shell, $3: to everything else. */
const HOOK = `#!/bin/sh
input=$(cat)
printf '%s' "$input" | tr -d '\\n\\r' >> "$1"
echo >> "$1"
case "$input" in
  *'"apply_patch"'*) cat "$3" ;;
  *'"command":'*) cat "$2" ;;
  *) cat "$3" ;;
esac
`

async function record(task: Task, isProbe: boolean): Promise<{ calls: RecordedCall[]; said: string }> {
  const host = hosts.find(({ name }) => name === task.host)
  const program = host === undefined ? null : programOf(host)
  if (host === undefined || program === null) throw new Error(`${task.host} is not installed`)
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'quarterdeck-asking-')))
  const [home, workspace, log] = [join(folder, 'home'), join(folder, 'repo'), join(folder, 'hooks.jsonl')]
  mkdirSync(home)
  makeFiles(task.workspace, workspace)
  installHook(task.host, { home, workspace, folder, log })
  const model = await startScriptedModel((results) => {
    const next = task.steps[results.length]
    return next === undefined ? undefined : stepOf(task.host, next, workspace)
  })
  for (const [path, text] of Object.entries(host.files(model.url))) addConfig(join(home, path), text)
  const args = [...host.args.filter((one) => !one.includes('mcp_servers')), ...host.fearless]
  // A model that Codex offers `apply_patch` to.
  if (task.host === 'codex') args.splice(args.indexOf('-c'), 1, '-m', 'gpt-5.5')
  const { PATH = '' } = process.env
  const child = spawn(program, args, {
    cwd: workspace,
    env: { PATH, HOME: home, ...host.env(model.url) },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  })
  child.stdin.on('error', () => {})
  child.stdin.end('Go.')
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk))
  const limit = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL'), LONGEST_RUN_MS)
  await once(child, 'exit')
  clearTimeout(limit)
  await model.close()
  if (isProbe) process.stdout.write(`${task.host}: ${model.tools.join(' ')}\n${model.results.join('\n---\n')}\n`)
  const calls = existsSync(log) ? readCalls(log, task.host, workspace, home) : []
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  return { calls, said }
}

/** As `quarterdeck connect` does it, without a server. */
function installHook(
  name: HostName,
  { home, workspace, folder, log }: { home: string; workspace: string; folder: string; log: string },
): void {
  const { hook, configFiles } = known[name]
  const [script, shell, other] = ['hook.sh', 'shell.json', 'other.json'].map((file) => join(folder, file))
  writeFileSync(String(script), HOOK, { mode: 0o755 })
  const [event = ''] = hook.asks
  const updated = { command: 'true', description: 'Nothing' }
  writeFileSync(String(shell), JSON.stringify(hook.allow(event, { updated, note: '' })))
  writeFileSync(String(other), JSON.stringify(hook.allow(event, null)))
  const setup = {
    workspace,
    server: { type: 'http' as const, url: 'http://127.0.0.1:9/mcp', token: 'none' },
    hook: (_event: string, isQuestion: boolean) => (isQuestion ? `sh ${script} ${log} ${shell} ${other}` : 'true'),
  }
  for (const file of configFiles({ home, env: {} })) {
    if (file.hooks === null) continue
    mkdirSync(dirname(file.path), { recursive: true })
    writeFileSync(file.path, withOurs({ ...file, server: null }, null, setup))
  }
}

function addConfig(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  const before = existsSync(path) && path.endsWith('.json') ? JSON.parse(readFileSync(path, 'utf8')) : null
  writeFileSync(path, before === null ? text : JSON.stringify({ ...JSON.parse(text), ...before }))
}

/** Without anything of this machine. */
function readCalls(log: string, host: HostName, workspace: string, home: string): RecordedCall[] {
  const lines = readFileSync(log, 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => {
    const clean = line.replaceAll(workspace, '$W').replaceAll(home, '/home/dev')
    const { hook_event_name: event, tool_name: tool, tool_input: input, cwd } = JSON.parse(clean)
    const below = String(cwd ?? '').replace(/^\$W\/?/, '')
    return { host, event, tool, input, ...(below === '' ? {} : { cwd: below }) }
  })
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { only: { type: 'string' }, probe: { type: 'boolean', default: false } } })
  mkdirSync(corpusFolder, { recursive: true })
  for (const task of readScripts()) {
    if (values.only !== undefined && !`${task.workspace}/${task.name}`.includes(values.only)) continue
    const began = performance.now()
    const { calls, said } = await record(task, values.probe)
    const seconds = ((performance.now() - began) / 1_000).toFixed(0)
    process.stdout.write(`${task.host} ${task.name}: ${calls.length} of ${task.steps.length} steps, ${seconds} s\n`)
    if (calls.length < task.steps.length * 0.8) appendFileSync('/tmp/asking-record.log', `== ${task.name}\n${said}\n`)
    if (values.probe) continue
    writeFileSync(join(corpusFolder, `${task.name}.jsonl`), calls.map((call) => `${JSON.stringify(call)}\n`).join(''))
  }
}
