import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { lockDataDir } from '../../../app/open-store.ts'
import { createSystemClock } from '../../../domain/clock.ts'
import { main } from '../../main.ts'
import { openSse, sendEvents, sendJson, startFakeServer } from '../../testing/fake-server.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo, type TestIo, type TestIoOptions } from '../../testing/test-io.ts'

const SCRIPT = `
answers:
  - when: hang
    parts: [{ text: Well }, { hang: true }]
  - when: fail
    parts: [{ error: { code: model_failed } }]
  - when: hello
    parts: [{ reasoning: Greet back. }, { text: Hello yourself. }]
  - when: again
    parts: [{ text: Hello again. }]
`

/** A folder with an agent that answers by a script. */
async function scriptedAgent(): Promise<string> {
  const cwd = await tempFolder()
  await writeFile(join(cwd, 'answers.yaml'), SCRIPT)
  await writeFile(
    join(cwd, 'agent.yaml'),
    'name: parrot\nmodel: { provider: scripted, script: answers.yaml, retries: 0 }\ninstructions: { inline: You repeat. }\n',
  )
  return cwd
}

async function chat(args: string[], options: TestIoOptions) {
  const io = createTestIo({ clock: createSystemClock(), ...options })
  const exitCode = await main(['chat', ...args], io)
  return { exitCode, out: io.printed(), err: io.complained() }
}

describe('quarterdeck chat with a file', () => {
  test('answers each line of a pipe, in one session, and keeps nothing', async () => {
    const cwd = await scriptedAgent()

    expect(await chat(['agent.yaml'], { cwd, stdin: 'hello\nagain\n' })).toEqual({
      exitCode: 0,
      out: 'Hello yourself.\nHello again.\n',
      err: '',
    })
    expect((await readdir(cwd)).toSorted()).toEqual(['agent.yaml', 'answers.yaml'])
  })

  test('works beside a server that uses the data directory', async () => {
    const cwd = await scriptedAgent()
    const lock = lockDataDir(join(cwd, '.quarterdeck'))
    onTestFinished(() => lock.release())

    expect(await chat(['-m', 'hello'], { cwd })).toMatchObject({ exitCode: 0, out: 'Hello yourself.\n' })
    expect(await chat(['-m', 'hello', '--session', 'work'], { cwd })).toMatchObject({ exitCode: 73, out: '' })
  })

  test('keeps a named session', async () => {
    const cwd = await scriptedAgent()

    await chat(['-m', 'hello', '--session', 'work'], { cwd })
    await chat(['-m', 'again', '--session', 'work'], { cwd })

    const io = createTestIo({ cwd })
    await main(['sessions', 'list', '--json'], io)
    // Reasoning is stored too, but does not count as a message.
    expect(JSON.parse(io.printed())).toMatchObject({ alias: 'work', agent: 'parrot', message_count: 4 })
  })

  test('ends with 1 when an answer fails, and says why', async () => {
    const cwd = await scriptedAgent()

    const { exitCode, out, err } = await chat(['-m', 'fail'], { cwd })

    expect([exitCode, out]).toEqual([1, ''])
    expect(err).toMatch(/^The answer failed: .+\nMore: quarterdeck explain \w+\n$/)
  })

  test('at a terminal, Ctrl-C stops the answer and the chat goes on', async () => {
    const cwd = await scriptedAgent()
    const stdin = new PassThrough()
    const io = createTestIo({ cwd, stdin, terminal: true, clock: createSystemClock(), env: { NO_COLOR: '1' } })

    const left = main(['chat'], io)
    await io.until('/help')
    stdin.write('hang\r')
    await io.until('Well')
    io.signal('SIGINT')
    await io.until('Stopped.')
    stdin.write('hello\r')
    await io.until('Hello yourself.')
    stdin.write('/quit\r')

    expect(await left).toBe(0)
    expect(io.printed()).toContain(
      'Talking to parrot (scripted/scripted). Nothing is kept; use --session <name> to keep it.',
    )
    expect(io.printed()).toContain('Greet back.\nHello yourself.\n')
  })

  test('SIGTERM cancels the run before the chat leaves', async () => {
    const cwd = await scriptedAgent()
    const io = createTestIo({ cwd, clock: createSystemClock() })

    const left = main(['chat', '-m', 'hang', '--session', 'work'], io)
    await io.until('Well')
    io.signal('SIGTERM')

    expect(await left).toBe(143)
    const after = createTestIo({ cwd })
    await main(['sessions', 'export', 'work'], after)
    expect(JSON.parse(after.printed().split('\n')[1] ?? '').runs).toMatchObject([{ status: 'cancelled' }])
  })

  test('refuses what it cannot use', async () => {
    const cwd = await scriptedAgent()

    expect(await chat(['--agent', 'crow', '-m', 'x'], { cwd })).toMatchObject({
      exitCode: 2,
      err: 'quarterdeck: There is no agent "crow".\n  Agents: parrot\n',
    })
    expect(await chat(['ftp://x', '-m', 'x'], { cwd })).toMatchObject({ exitCode: 2 })
    expect(await chat(['-m', 'x', '--session', ' '], { cwd })).toMatchObject({ exitCode: 2 })
    expect(await chat(['nowhere.yaml', '-m', 'x'], { cwd })).toMatchObject({ exitCode: 2 })
  })
})

const GATED = `
answers:
  - when: { tool: pay }
    parts: [{ text: The bill is settled. }]
  - when: pay
    parts: [{ text: I will. }, { tool_call: { name: pay, arguments: { amount: 5 } } }]
  - when: hello
    parts: [{ text: Hello yourself. }]
`

/** A folder with an agent that needs approval to pay, and its sub-agent. */
async function gatedAgent(): Promise<string> {
  const cwd = await tempFolder()
  const model = 'model: { provider: scripted, script: answers.yaml, retries: 0 }\n'
  await writeFile(join(cwd, 'answers.yaml'), GATED)
  await writeFile(
    join(cwd, 'pay.mjs'),
    `export const pay = ({ amount }) => 'paid ' + amount
pay.parameters = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] }
`,
  )
  await writeFile(
    join(cwd, 'helper.yaml'),
    `name: helper\ndescription: Helps with everything else.\n${model}instructions: You help.\n`,
  )
  await writeFile(
    join(cwd, 'agent.yaml'),
    `name: clerk\n${model}instructions: You pay.\ntools:
  - { type: function, name: pay, description: Pays an amount of money., file: pay.mjs }
  - { type: agent, name: ask_helper, agent: helper.yaml }
`,
  )
  return cwd
}

describe('quarterdeck chat with a tool that needs approval', () => {
  const terminalIo = (cwd: string, stdin: PassThrough) =>
    createTestIo({ cwd, stdin, terminal: true, clock: createSystemClock(), env: { NO_COLOR: '1' } })

  /** Resolves when the person has been asked this many times. */
  async function askedTimes(io: TestIo, times: number): Promise<void> {
    while (io.printed().split('Allow it? ').length <= times) await new Promise((resolve) => setImmediate(resolve))
  }

  test('asks the person at the terminal, who is the operator of a file', async () => {
    const cwd = await gatedAgent()
    const stdin = new PassThrough()
    const io = terminalIo(cwd, stdin)

    const left = main(['chat'], io)
    await io.until('/help')
    stdin.write('pay\r')
    await askedTimes(io, 1)
    stdin.write('e\r')
    await io.until('{"amount":5}')
    stdin.write('\x7f\x7f6}\r')
    await io.until('The bill is settled.')
    stdin.write('pay\r')
    await askedTimes(io, 2)
    stdin.write('\x03')
    await io.until('/approvals asks again.')
    stdin.write('/approvals\r')
    await askedTimes(io, 3)
    stdin.write('s\r')
    await io.until('paid 5')
    stdin.write('pay\r/quit\r')

    expect(await left).toBe(0)
    const told = io
      .printed()
      .split('\n')
      .filter((line) => /^(⚙| {2}→|The |clerk )/.test(line))
    const asks = 'clerk asks to call a tool: pay (risk high)'
    const paid = ['⚙ pay({"amount":5})', '  → paid 5', 'The bill is settled.']
    expect(told).toEqual([
      asks,
      '⚙ pay({"amount":6})',
      expect.stringContaining('paid 6'),
      'The bill is settled.',
      asks,
      asks,
      ...paid,
      // Nobody is asked: the approval was for the session.
      ...paid,
    ])
    // The bell of a server would ask a second time, in the middle of the chat.
    expect(io.complained()).toBe('')
  })

  test('through a pipe says on stderr what waits, ends with 0, and a later chat can answer', async () => {
    const cwd = await gatedAgent()

    const { exitCode, out, err } = await chat(['-m', 'pay', '--session', 'work'], { cwd })

    expect([exitCode, out]).toEqual([0, 'I will.\n'])
    expect(err).toMatch(
      /^clerk asks to call a tool: pay \(risk high\)\n\nWhat it does:\n {2}runs pay in pay\.mjs\n\nArguments of pay:\n {2}amount: 5\n {2}Approval [0-9a-f-]{36}\n {2}At a terminal, run quarterdeck chat --session work and type \/approvals\n$/,
    )
    expect(await chat(['-m', 'hello', '--session', 'work'], { cwd })).toMatchObject({
      exitCode: 1,
      out: '',
      err: expect.stringMatching(/^quarterdeck: The session waits .+\nclerk asks to call a tool: pay/),
    })
    const stdin = new PassThrough()
    const io = terminalIo(cwd, stdin)
    const left = main(['chat', '--session', 'work'], io)
    await io.until('/help')
    stdin.write('/approvals\r')
    await io.until('Allow it?')
    stdin.write('n\r')
    await io.until('Why not?')
    stdin.write('Too much\r')
    await io.until('The bill is settled.')
    stdin.write('/quit\r')
    expect(await left).toBe(0)
    expect(io.printed()).toContain('A person refused this call, so it was not run. Reason: Too much')
  })

  test('without a session says that nobody can answer later', async () => {
    const cwd = await gatedAgent()

    expect(await chat(['-m', 'pay'], { cwd })).toMatchObject({
      exitCode: 0,
      err: expect.stringContaining('Nobody can answer this now: it ends with this command.'),
    })
  })

  test('a sub-agent cannot be talked to', async () => {
    const cwd = await gatedAgent()

    expect(await chat(['--agent', 'helper', '-m', 'x'], { cwd })).toMatchObject({
      exitCode: 2,
      err: 'quarterdeck: "helper" is a sub-agent: only other agents can talk to it.\n  Agents: clerk\n',
    })
  })
})

/** A server whose first run waits for the approval `a1`. `decide` responds to the decision. */
function askingServer(decide: Parameters<typeof startFakeServer>[0]) {
  const quarterdeck = { tool: 'pay', arguments: { amount: 5 }, risk: 'high', digest: 'd' }
  const pending = { approval_id: 'a1', tool_call_id: 'c1', ...quarterdeck }
  return startFakeServer((request, response) => {
    if (request.path.endsWith('/messages')) return sendJson(response, 202, { run_id: 'first' })
    if (request.path.startsWith('/approvals?')) return sendJson(response, 200, { approvals: [pending] })
    if (request.path === '/approvals/a1') return decide(request, response)
    if (request.path.startsWith('/sessions/')) return void openSse(response)
    const interrupts = [{ id: 'a1', metadata: { quarterdeck } }]
    const waits = request.path === '/runs/first/events'
    sendEvents(response, { type: 'RUN_FINISHED', ...(waits && { outcome: { type: 'interrupt', interrupts } }) })
  })
}

describe('quarterdeck chat with a server', () => {
  test('tells a person who is not the operator how the operator answers', async () => {
    const server = await askingServer((_, response) => sendJson(response, 401, { code: 'unauthorized' }))
    onTestFinished(() => server.close())
    const stdin = new PassThrough()
    const io = createTestIo({ stdin, terminal: true, clock: createSystemClock(), env: { NO_COLOR: '1' } })

    const left = main(['chat', server.url, '-m', 'pay'], io)
    await io.until('Type the operator’s token')
    stdin.write('\r')

    expect(await left).toBe(0)
    expect(
      io.complained(),
    ).toBe(`A call needs approval. Type the operator’s token (it is not shown; Enter leaves the call pending): 
The agent asks to call pay (risk high):
  amount: 5
  Approval a1
  POST ${server.url}/approvals/a1 {"decision": "approve"} or {"decision": "reject", "reason": "…"}
  with the operator’s token, or answer in a chat at a terminal. If the token is lost: quarterdeck tokens --help
`)
  })

  test('asks for the operator’s token without showing it, and again when it is wrong', async () => {
    const server = await askingServer(({ headers }, response) =>
      headers.authorization === 'Bearer right'
        ? sendJson(response, 200, { continuation_run_id: 'second' })
        : sendJson(response, 401, { code: 'unauthorized', detail: 'No valid token.' }),
    )
    onTestFinished(() => server.close())
    const stdin = new PassThrough()
    const io = createTestIo({ stdin, terminal: true, clock: createSystemClock(), env: { NO_COLOR: '1' } })

    const left = main(['chat', server.url, '-m', 'pay'], io)
    await io.until('leaves the call pending): ')
    stdin.write('wrong\r')
    await io.until('Allow it?')
    stdin.write('y\r')
    await io.until('No valid token.')
    const times = async (text: string, count: number) => {
      const said = () => (io.printed() + io.complained()).split(text).length - 1
      while (said() < count) await new Promise((resolve) => setImmediate(resolve))
    }
    await times('leaves the call pending): ', 2)
    stdin.write('right\r')
    await times('Allow it?', 2)
    stdin.write('y\r')

    expect(await left).toBe(0)
    expect(io.printed() + io.complained()).not.toMatch(/wrong|right/)
    const answers = server.seen.filter(({ method }) => method === 'POST').map(({ headers }) => headers.authorization)
    expect(answers).toEqual([undefined, 'Bearer wrong', 'Bearer right'])
  })

  test('says at once that no server answers', async () => {
    const server = await startFakeServer((_, response) => void response.end())
    await server.close()

    expect(await chat([server.url], { terminal: true, stdin: new PassThrough(), env: { NO_COLOR: '1' } })).toEqual({
      exitCode: 69,
      out: '',
      err: `quarterdeck: No server answers at ${server.url} (ECONNREFUSED).\n  Start one: quarterdeck serve\n`,
    })
  })

  test('answers with the operator’s token from the environment', async () => {
    const server = await askingServer((_, response) => sendJson(response, 200, { continuation_run_id: 'second' }))
    onTestFinished(() => server.close())
    const stdin = new PassThrough()
    const env = { QUARTERDECK_TOKEN: 'mine', QUARTERDECK_OPERATOR_TOKEN: 'theirs' }
    const io = createTestIo({ stdin, terminal: true, clock: createSystemClock(), env })

    const left = main(['chat', server.url, '-m', 'pay'], io)
    await io.until('Allow it?')
    stdin.write('y\r')

    expect(await left).toBe(0)
    expect(
      server.seen
        // Without the streams.
        .filter(({ path }) => !path.endsWith('/events'))
        .map(({ path, headers, body }) => [path.replace(/[0-9a-f-]{36}/, '…'), headers.authorization, body]),
    ).toEqual([
      ['/sessions/…/messages', 'Bearer mine', { message: 'pay' }],
      ['/approvals/a1', 'Bearer theirs', null],
      ['/approvals/a1', 'Bearer theirs', { decision: 'approve', digest: 'd' }],
    ])
  })

  test('talks to the default agent with the token from the link or the environment', async () => {
    const server = await startFakeServer((request, response) =>
      request.method === 'POST'
        ? sendJson(response, 202, { run_id: 'r' })
        : sendEvents(
            response,
            { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'Yes' },
            { type: 'RUN_FINISHED', threadId: 't', runId: 'r' },
          ),
    )
    onTestFinished(() => server.close())

    const link = `${server.url}/#token=fromlink`
    expect(await chat([link, '-m', 'hi', '--session', 'talk'], { env: { QUARTERDECK_TOKEN: 'env' } })).toEqual({
      exitCode: 0,
      out: 'Yes\n',
      err: '',
    })
    await chat([server.url, '-m', 'hi', '--agent', 'crow'], { env: { QUARTERDECK_TOKEN: 'env' } })

    expect(server.seen.map(({ path, headers, body }) => [path, headers.authorization, body])).toEqual([
      ['/sessions/talk/messages', 'Bearer fromlink', { message: 'hi' }],
      ['/runs/r/events', 'Bearer fromlink', null],
      [expect.stringMatching(/^\/sessions\/[0-9a-f-]{36}\/messages$/), 'Bearer env', { message: 'hi', agent: 'crow' }],
      ['/runs/r/events', 'Bearer env', null],
    ])
  })
})
