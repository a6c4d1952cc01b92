// What the scripted agent can do: one entry for each first word of a line. A new test is a new prompt, so a new misdeed is a new entry.

import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import {
  type AgentContext,
  type ClientCapabilities,
  methods,
  type PermissionOption,
  RequestError,
  type SessionUpdate,
  type StopReason,
  type ToolCall,
  type ToolCallUpdate,
} from '@agentclientprotocol/sdk'

/** One prompt that runs. */
export interface Turn {
  sessionId: string
  cwd: string
  client: AgentContext
  capabilities: ClientCapabilities
  /** Aborts when the client cancels. */
  signal: AbortSignal
  /** What the person said "always" to, in this process. */
  always: Map<string, boolean>
  /** Names of the MCP servers that the client gave. */
  servers: readonly string[]
  /** Unique in the session, also after a restart. */
  newCallId(): string
  /** `isKept`: it is replayed when the session is loaded. */
  update(update: SessionUpdate, isKept?: boolean): Promise<void>
  say(text: string): Promise<void>
  state(): { mode: string | null; config: Readonly<Record<string, string>> }
  setMode(mode: string): void
}

/** The prompt ends here. `cancelled`: the client has cancelled it, or has answered a permission so. */
class Ended extends Error {
  readonly stopReason: StopReason

  constructor(stopReason: StopReason) {
    super(stopReason)
    this.stopReason = stopReason
  }
}

type Line = (rest: string, turn: Turn) => Promise<void>

/** Runs the lines in order. A line that begins with another word is prose, and does nothing. */
export async function runScript(script: string, turn: Turn): Promise<StopReason> {
  const meanwhile: Promise<void>[] = []
  try {
    for (const { word, rest, run } of linesOf(script)) {
      const work = run(rest, turn)
      if (word !== 'meanwhile') await work
      else meanwhile.push(work)
      if (turn.signal.aborted) return 'cancelled'
    }
    await Promise.all(meanwhile)
    return 'end_turn'
  } catch (error) {
    if (error instanceof Ended) return error.stopReason
    throw error
  }
}

/** Whether the text asks for anything. */
export const isScript = (text: string): boolean => linesOf(text).length > 0

function linesOf(text: string): { word: string; rest: string; run: Line }[] {
  return text.split('\n').flatMap((line) => {
    const [, word = '', rest = ''] = /^\s*(\S+) ?(.*)$/.exec(line) ?? []
    if (word.startsWith('/')) return [{ word, rest: word, run: lines.command }]
    if (word === 'meanwhile') return linesOf(rest).map(({ rest, run }) => ({ word, rest, run: unheard(run) }))
    return Object.hasOwn(lines, word) ? [{ word, rest, run: lines[word as keyof typeof lines] }] : []
  })
}

/** Its failure is heard at the end of the script, so until then nobody has to listen. */
function unheard(run: Line): Line {
  return (rest, turn) => {
    const work = run(rest, turn)
    work.catch(() => {})
    return work
  }
}

const OPTIONS: readonly PermissionOption[] = [
  { optionId: 'yes', name: 'Allow once', kind: 'allow_once' },
  { optionId: 'yes-always', name: 'Always allow', kind: 'allow_always' },
  { optionId: 'no', name: 'Reject once', kind: 'reject_once' },
  { optionId: 'no-always', name: 'Always reject', kind: 'reject_always' },
]

const lines = {
  say: (text, turn) => turn.say(unescaped(text)),
  think: (text, { update }) => update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } }, true),
  /** `plan first;second`: the first step is in progress. */
  plan: (steps, { update }) =>
    update({
      sessionUpdate: 'plan',
      entries: steps.split(';').map((content, index) => ({
        content,
        priority: 'medium',
        status: index === 0 ? 'in_progress' : 'pending',
      })),
    }),
  usage(numbers, { update }) {
    const [amount = 0, used = 0] = numbers.split(' ').map(Number)
    return update({ sessionUpdate: 'usage_update', used, size: 200_000, cost: { amount, currency: 'USD' } })
  },
  async mode(name, { setMode, update }) {
    setMode(name)
    await update({ sessionUpdate: 'current_mode_update', currentModeId: name })
  },
  commands: (names, { update }) =>
    update({
      sessionUpdate: 'available_commands_update',
      availableCommands: names.split(',').map((name) => ({ name, description: `Runs ${name}.` })),
    }),
  command: (name, { say }) => say(`Ran ${name}.`),
  state: (_, { say, state }) => say(JSON.stringify(state())),
  servers: (_, { say, servers }) => say(servers.join(', ')),
  pwd: (_, { say, cwd }) => say(cwd),
  pid: (_, { say }) => say(String(process.pid)),
  env: (name, { say }) => say(`${name}=${process.env[name] ?? ''}`),
  cat: (path, turn) => told(turn, `cat ${path}`, () => readFileSync(inFolder(turn, path), 'utf8')),

  // It acts itself, without a question. A failure is said with its code.
  write(rest, turn) {
    const [path, text] = pathAndText(rest)
    return told(turn, `write ${path}`, () => writeItself(turn, path, text))
  },
  run: (command, turn) => told(turn, `run ${command}`, () => runItself(turn, command)),
  /** Starts a process that outlives the agent, and says its id. */
  async leave(command, { cwd, say }) {
    const child = spawn('sh', ['-c', command], { cwd, detached: true, stdio: 'ignore' })
    child.unref()
    await say(String(child.pid))
  },

  // It asks, then acts itself.
  'ask-write': (rest, turn) => askToWrite(rest, turn, 'call first'),
  'late-update': (rest, turn) => askToWrite(rest, turn, 'permission first'),
  /** `ask-edit PATH OLD => NEW` */
  async 'ask-edit'(rest, turn) {
    const [path, change] = pathAndText(rest)
    const [old = '', next = ''] = change.split(' => ')
    const before = readFileSync(inFolder(turn, path), 'utf8')
    const after = before.replace(old, () => next)
    const input = { file_path: inFolder(turn, path), old_string: old, new_string: next }
    const content: ToolCall['content'] = [{ type: 'diff', path: input.file_path, oldText: old, newText: next }]
    await asked(turn, { name: 'Edit', title: `Edit ${path}`, kind: 'edit', rawInput: input, content }, () =>
      writeItself(turn, path, after),
    )
  },
  'ask-run': (command, turn) =>
    asked(turn, { name: 'Bash', title: `\`${command}\``, kind: 'execute', rawInput: { command } }, () =>
      runItself(turn, command),
    ),
  'ask-empty': (_, turn) => asked(turn, { title: 'Something', kind: 'other', rawInput: {} }, () => 'did something'),
  'ask-without-options': (_, turn) =>
    asked(turn, { title: 'Something', kind: 'other', rawInput: { what: 'something' } }, () => 'did something', []),
  /** `elicit QUESTION|first answer|second answer`; without answers the person writes one. */
  async elicit(text, { client, sessionId, say }) {
    const [message = '', ...answers] = text.split('|')
    const answer = answers.length === 0 ? { type: 'string' as const } : { type: 'string' as const, enum: answers }
    const requestedSchema = { type: 'object' as const, properties: { answer }, required: ['answer'] }
    const response = await client.request(methods.client.elicitation.create, {
      sessionId,
      mode: 'form',
      message,
      requestedSchema,
    })
    await say(`${response.action}: ${JSON.stringify('content' in response ? response.content : null)}`)
  },

  // The client acts.
  async 'client-write'(rest, { client, capabilities, sessionId, say, ...turn }) {
    const [path, content] = pathAndText(rest)
    if (capabilities.fs?.writeTextFile !== true) return say('The client does not write.')
    const write = async () => {
      await client.request(methods.client.fs.writeTextFile, { sessionId, path: inFolder(turn, path), content })
      return `wrote ${path}`
    }
    await say(await outcome(write()))
  },
  async 'client-read'(path, { client, capabilities, sessionId, say, ...turn }) {
    if (capabilities.fs?.readTextFile !== true) return say('The client does not read.')
    const read = async () => {
      const file = await client.request(methods.client.fs.readTextFile, { sessionId, path: inFolder(turn, path) })
      return file.content
    }
    await say(await outcome(read()))
  },
  /** The words of the command are its arguments; there is no shell. */
  async 'client-run'(words, { client, capabilities, sessionId, cwd, newCallId, update, say }) {
    const [command = '', ...args] = words.split(' ')
    if (capabilities.terminal !== true) return say('The client runs nothing.')
    const run = async () => {
      await using terminal = await client.createTerminal({ sessionId, command, args, cwd, outputByteLimit: 100_000 })
      const content: ToolCall['content'] = [{ type: 'terminal', terminalId: terminal.id }]
      await update({ sessionUpdate: 'tool_call', toolCallId: newCallId(), title: words, kind: 'execute', content })
      const { exitCode } = await terminal.waitForExit()
      return `exit ${exitCode}: ${(await terminal.currentOutput()).output}`
    }
    await say(await outcome(run()))
  },

  /** `client-run-env NAME=VALUE command`: the variable is beside the command. */
  async 'client-run-env'(rest, { client, sessionId, cwd, say }) {
    const [variable = '', command = '', ...args] = rest.split(' ')
    const [name = '', value = ''] = variable.split('=')
    const run = async () => {
      await using terminal = await client.createTerminal({ sessionId, command, args, cwd, env: [{ name, value }] })
      const { exitCode } = await terminal.waitForExit()
      return `exit ${exitCode}: ${(await terminal.currentOutput()).output}`
    }
    await say(await outcome(run()))
  },
  /** Starts a command and never looks at it again. */
  async 'client-leave'(words, { client, sessionId, cwd, say }) {
    const [command = '', ...args] = words.split(' ')
    await say(await outcome(client.createTerminal({ sessionId, command, args, cwd }).then(() => 'started')))
  },

  // Ends.
  async stop(reason) {
    throw new Ended(reason as StopReason)
  },
  async refuse() {
    throw new Ended('refusal')
  },
  async fail(message) {
    throw new RequestError(-32603, message)
  },
  async die(words) {
    writeSync(2, `${words}\n`)
    process.exit(1)
  },
  sleep: (milliseconds, turn) => during(turn, (done) => setTimeout(done, Number(milliseconds))),
  hang: (_, turn) => during(turn, () => setInterval(() => {}, 60_000)),
  /** Only SIGKILL ends it. */
  'hang-ignoring-cancel'() {
    process.on('SIGTERM', () => {})
    setInterval(() => {}, 60_000)
    hangs = true
    return new Promise(() => {})
  },

  // Misdeeds.
  /** Asks for so many things at once, each another one of the same call. */
  async 'ask-many'(count, { client, sessionId, newCallId }) {
    const toolCallId = newCallId()
    const asked = Array.from({ length: Number(count) }, (_, index) =>
      client.request(methods.client.session.requestPermission, {
        sessionId,
        toolCall: { toolCallId, name: 'Bash', title: 'Run', kind: 'execute', rawInput: { command: `touch f${index}` } },
        options: [...OPTIONS],
      }),
    )
    await Promise.allSettled(asked)
  },
  /** `ask-twice COMMAND; OTHER`: two questions of one call. Says of which it was allowed. */
  async 'ask-twice'(commands, { client, sessionId, newCallId, say }) {
    const toolCallId = newCallId()
    const ask = async (command: string) => {
      const toolCall: ToolCallUpdate = {
        toolCallId,
        name: 'Bash',
        title: 'Run',
        kind: 'execute',
        rawInput: { command },
      }
      const { outcome } = await client.request(methods.client.session.requestPermission, {
        sessionId,
        toolCall,
        options: [...OPTIONS],
      })
      await say(`${command}: ${'optionId' in outcome ? outcome.optionId : outcome.outcome}. `)
    }
    await Promise.all(commands.split('; ').map(ask))
  },
  async 'ask-long'(length, { client, sessionId }) {
    const requestedSchema = { type: 'object' as const, properties: {} }
    const message = 'x'.repeat(Number(length))
    await client.request(methods.client.elicitation.create, { sessionId, mode: 'form', message, requestedSchema })
  },
  /** No mode and no option that is chosen from here on is ever answered. */
  async 'ignore-choices'() {
    ignores = true
  },
  /** Reads nothing from here on, while the client has much to answer. */
  async 'ask-and-freeze'(count, { say }) {
    await say('frozen')
    await raw(
      Array.from({ length: Number(count) }, (_, id) =>
        JSON.stringify({ jsonrpc: '2.0', id: `x${id}`, method: `session/${'x'.repeat(400)}`, params: {} }),
      ).join('\n'),
    )
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  },
  /** `plans COUNT LENGTH` */
  async plans(numbers, { update }) {
    const [count = 0, length = 0] = numbers.split(' ').map(Number)
    for (let index = 0; index < count; index++) {
      const content = `${index} ${'x'.repeat(length)}`
      await update({ sessionUpdate: 'plan', entries: [{ content, priority: 'medium', status: 'pending' }] })
    }
  },
  /** In messages of 64 KB. */
  async flood(bytes, { update }) {
    for (let left = Number(bytes); left > 0; left -= 65_536) {
      const text = 'x'.repeat(Math.min(left, 65_536))
      await update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })
    }
  },
  'flood-line': (bytes, { update }) =>
    update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'x'.repeat(Number(bytes)) } }),
  async 'flood-errors'(bytes) {
    for (let left = Number(bytes); left > 0; left -= 65_536) {
      const text = 'x'.repeat(Math.min(left, 65_536))
      await new Promise((done) => process.stderr.write(text, done))
    }
  },
  async calls(count, { update, newCallId }) {
    for (let index = 1; index <= Number(count); index++) {
      const toolCallId = newCallId()
      await update({
        sessionUpdate: 'tool_call',
        toolCallId,
        title: `Call ${index}`,
        kind: 'read',
        rawInput: { index },
      })
      await update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' })
    }
  },
  /** One call that is told in pieces of 1 MB and never ends. */
  async 'endless-call'(count, { update, newCallId }) {
    const toolCallId = newCallId()
    await update({ sessionUpdate: 'tool_call', toolCallId, title: 'Endless', kind: 'other' })
    for (let index = 1; index <= Number(count); index++) {
      const rawInput = { [`part${index}`]: 'x'.repeat(1_000_000) }
      await update({ sessionUpdate: 'tool_call_update', toolCallId, rawInput })
    }
  },
  'foreign-update': (_, { client }) =>
    client.notify(methods.client.session.update, {
      sessionId: 'of-nobody',
      update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'For another session.' } },
    }),
  'broken-json': () => raw('{"jsonrpc": "2.0", "method": oops'),
  /** An update of a kind that is not in the protocol, then a method that is not. */
  async 'unknown-method'(_, { client, sessionId, say }) {
    const update = { sessionUpdate: 'smoke_signal', text: 'Hello' }
    await raw(JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId, update } }))
    await client.notify('session/sing', { sessionId })
    await say(await outcome(client.request('session/dance', { sessionId }).then(() => 'answered')))
  },
  async 'control-characters'(_, { say, update, newCallId }) {
    const text = 'red \u001b[31m, back \b, zero \0, bell \u0007, turned \u202e, hidden \u200b.'
    await update({ sessionUpdate: 'tool_call', toolCallId: newCallId(), title: text, kind: 'read', rawInput: { text } })
    await say(text)
  },
} satisfies Record<string, Line>

let hangs = false
let ignores = false

export const ignoresChoices = (): boolean => ignores

/** Whether the agent stays when the client has closed its input. */
export const isHanging = (): boolean => hangs

async function askToWrite(rest: string, turn: Turn, first: 'call first' | 'permission first'): Promise<void> {
  const [path, content] = pathAndText(rest)
  const rawInput = { file_path: inFolder(turn, path), content }
  const diff: ToolCall['content'] = [{ type: 'diff', path: rawInput.file_path, oldText: null, newText: content }]
  const call = { name: 'Write', title: `Write ${path}`, kind: 'edit' as const, rawInput, content: diff }
  await asked(turn, call, () => writeItself(turn, path, content), OPTIONS, first)
}

type Call = Omit<ToolCall, 'toolCallId'>

async function asked(
  turn: Turn,
  call: Call,
  act: () => string | Promise<string>,
  options = OPTIONS,
  first: 'call first' | 'permission first' = 'call first',
): Promise<void> {
  const toolCallId = turn.newCallId()
  const announce = () => turn.update({ sessionUpdate: 'tool_call', toolCallId, status: 'pending', ...call }, true)
  if (first === 'call first') await announce()
  const [isYes] = await Promise.all(
    first === 'call first'
      ? [isAllowed({ toolCallId, ...call }, turn, options)]
      : [isAllowed({ toolCallId, ...call, content: [] }, turn, options), announce()],
  )
  const finish = (status: 'completed' | 'failed', text: string) =>
    turn.update(
      {
        sessionUpdate: 'tool_call_update',
        toolCallId,
        status,
        content: [...(call.content ?? []), { type: 'content', content: { type: 'text', text } }],
      },
      true,
    )
  if (!isYes) return finish('failed', 'rejected')
  await turn.update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress' })
  try {
    await finish('completed', await act())
  } catch (error) {
    await finish('failed', codeOf(error))
  }
}

async function isAllowed(toolCall: ToolCallUpdate, turn: Turn, options: readonly PermissionOption[]): Promise<boolean> {
  const key = JSON.stringify([toolCall.kind, toolCall.rawInput])
  const known = turn.always.get(key)
  if (known !== undefined) return known
  const { sessionId, client } = turn
  const answer = await client.request(methods.client.session.requestPermission, {
    sessionId,
    toolCall,
    options: [...options],
  })
  const { outcome } = answer
  if (outcome.outcome === 'cancelled') throw new Ended('cancelled')
  const chosen = options.find(({ optionId }) => 'optionId' in outcome && optionId === outcome.optionId)
  if (chosen === undefined) throw RequestError.invalidParams({ outcome }, 'There is no such option.')
  const isYes = chosen.kind.startsWith('allow')
  if (chosen.kind.endsWith('always')) turn.always.set(key, isYes)
  return isYes
}

const inFolder = ({ cwd }: Pick<Turn, 'cwd'>, path: string): string => (isAbsolute(path) ? path : join(cwd, path))

/** `\n` in a text is a line break, because the script itself has lines. */
const unescaped = (text: string): string => text.replaceAll('\\n', '\n').replaceAll('\\t', '\t')

function pathAndText(rest: string): [path: string, text: string] {
  const space = rest.indexOf(' ')
  return space === -1 ? [rest, ''] : [rest.slice(0, space), unescaped(rest.slice(space + 1))]
}

function writeItself(turn: Turn, path: string, text: string): string {
  const file = inFolder(turn, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return `wrote ${path}`
}

async function runItself({ cwd }: Turn, command: string): Promise<string> {
  const child = spawn('sh', ['-c', `${command} 2>&1`], { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  let output = ''
  for await (const text of child.stdout.setEncoding('utf8')) output += text
  return `exit ${await closed}: ${output}`
}

async function told(turn: Turn, what: string, act: () => string | Promise<string>): Promise<void> {
  try {
    await turn.say(await act())
  } catch (error) {
    await turn.say(`${what}: ${codeOf(error)}`)
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error)

/** The answer, or the error that the client answered with. */
const outcome = (answer: Promise<string>): Promise<string> =>
  answer.catch((error: unknown) => {
    if (error instanceof RequestError) return `error ${error.code}: ${error.message}`
    throw error
  })

/** Until it is done or cancelled. */
async function during({ signal }: Turn, start: (done: () => void) => NodeJS.Timeout): Promise<void> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) return resolve()
    const timer = start(resolve)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

const raw = (line: string): Promise<void> =>
  new Promise((resolve) => process.stdout.write(`${line}\n`, () => resolve()))
