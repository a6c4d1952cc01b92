import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSystemClock } from '../domain/clock.ts'
import { lockDataDir } from '../store/sqlite/data-dir-lock.ts'
import { main } from './main.ts'
import { openSse, startFakeServer } from './testing/fake-server.ts'
import { tempFolder } from './testing/temp-folder.ts'
import { createTestIo, type TestIoOptions } from './testing/test-io.ts'

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

  test('works beside a server that has the data directory', async () => {
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
    // The reasoning of an answer is stored too but is no message to count.
    expect(JSON.parse(io.printed())).toMatchObject({ alias: 'work', agent: 'parrot', message_count: 4 })
  })

  test('ends with 1 when an answer fails, and says why', async () => {
    const cwd = await scriptedAgent()

    const { exitCode, out, err } = await chat(['-m', 'fail'], { cwd })

    expect([exitCode, out]).toEqual([1, ''])
    expect(err).toMatch(/^The answer failed: .+\n$/)
  })

  test('at a terminal Ctrl-C stops the answer and the talk goes on', async () => {
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
    expect(io.printed()).toContain('Talking to parrot (scripted/scripted). Nothing is kept; --session <name> keeps it.')
    expect(io.printed()).toContain('Greet back.\nHello yourself.\n')
  })

  test('refuses what it cannot use', async () => {
    const cwd = await scriptedAgent()

    expect(await chat(['--agent', 'crow', '-m', 'x'], { cwd })).toMatchObject({
      exitCode: 2,
      err: 'quarterdeck: There is no agent "crow".\n  There is: parrot\n',
    })
    expect(await chat(['ftp://x', '-m', 'x'], { cwd })).toMatchObject({ exitCode: 2 })
    expect(await chat(['-m', 'x', '--session', ' '], { cwd })).toMatchObject({ exitCode: 2 })
    expect(await chat(['nowhere.yaml', '-m', 'x'], { cwd })).toMatchObject({ exitCode: 2 })
  })
})

describe('quarterdeck chat with a server', () => {
  test('talks to its default agent with the token of the link or of the environment', async () => {
    const server = await startFakeServer((_, response) => {
      const send = openSse(response)
      send(1, { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'Yes' })
      send(2, { type: 'RUN_FINISHED', threadId: 't', runId: 'r' })
      response.end()
    })
    onTestFinished(() => server.close())

    const link = `${server.url}/#token=fromlink`
    expect(await chat([link, '-m', 'hi', '--session', 'work'], { env: { QUARTERDECK_TOKEN: 'env' } })).toEqual({
      exitCode: 0,
      out: 'Yes\n',
      err: '',
    })
    await chat([server.url, '-m', 'hi', '--agent', 'crow'], { env: { QUARTERDECK_TOKEN: 'env' } })

    expect(server.seen.map(({ path, headers, body }) => [path, headers.authorization, body])).toEqual([
      ['/', 'Bearer fromlink', expect.objectContaining({ threadId: 'work' })],
      ['/agents/crow', 'Bearer env', expect.objectContaining({ threadId: expect.stringMatching(/^[0-9a-f-]{36}$/) })],
    ])
  })
})
