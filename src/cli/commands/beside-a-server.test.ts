import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import { main } from '../main.ts'
import { tempFolder } from '../testing/temp-folder.ts'
import { createTestIo } from '../testing/test-io.ts'
import { readArchiveHeader, readArchiveLine } from './sessions/session-archive.ts'

const AGENT = `name: teller
model: { provider: scripted, script: script.yaml }
instructions: { inline: You tell stories. }
`
const SCRIPT = `answers:
  - parts: [{ text: Once }, { text: " upon" }, { text: " a time" }, { hang: true }]
`

/** A server in the middle of an answer: a client has read all of its text so far. */
async function startTelling(cwd: string): Promise<string> {
  await writeFile(join(cwd, 'agent.yaml'), AGENT)
  await writeFile(join(cwd, 'script.yaml'), SCRIPT)
  const io = createTestIo({ cwd, clock: createSystemClock() })
  const stopped = main(['serve', '--port', '0', '--log-level', 'silent'], io)
  onTestFinished(async () => {
    io.signal('SIGTERM')
    io.signal('SIGTERM')
    await stopped
  })
  await io.until('Ctrl-C')
  const url = /(http:\/\/127\.0\.0\.1:\d+)/.exec(io.printed())?.[1] ?? ''
  const sent = await fetch(`${url}/sessions/story/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"message": "Tell me a story"}',
  })
  const { run_id: run } = JSON.parse(await sent.text())
  const events = await fetch(`${url}/runs/${run}/events`)
  let seen = ''
  for await (const chunk of events.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    seen += chunk
    if (seen.includes(' a time')) break
  }
  return url
}

async function run(cwd: string, ...args: string[]) {
  const io = createTestIo({ cwd, clock: createSystemClock() })
  const exitCode = await main(args, io)
  return { exitCode, out: io.printed(), err: io.complained() }
}

describe('beside a running server', () => {
  test('sessions, audit and doctor read what it has stored, including the answer that is being written', async () => {
    const cwd = await tempFolder()
    const port = new URL(await startTelling(cwd)).port

    const listed = await run(cwd, 'sessions', 'list', '--json')
    expect([listed.exitCode, listed.err]).toEqual([0, ''])
    expect(JSON.parse(listed.out)).toMatchObject({ alias: 'story', agent: 'teller', owner: 'local_user' })

    const exported = await run(cwd, 'sessions', 'export')
    expect([exported.exitCode, exported.err]).toEqual([
      0,
      'Exported 1 session.\n1 session had a run that has not ended. It goes on where you import it: stop the server here first, or it runs twice.\n',
    ])
    const [header = '', line = '', ...rest] = exported.out.split('\n')
    expect(rest).toEqual(['{"end":{"sessions":1}}', ''])
    readArchiveHeader(header)
    const read = readArchiveLine(line, 2)
    if (read.type !== 'session') throw new Error('the line is a session')
    const { entries, runs, messages } = read.session
    const deltas = entries.map(({ data }) => JSON.parse(data).delta).filter((delta) => delta !== undefined)
    expect(deltas.join('')).toBe('Once upon a time')
    expect(runs.map(({ status }) => status)).toEqual(['running'])
    expect(messages.map(({ content }) => content)).toEqual(['Tell me a story'])

    expect(await run(cwd, 'audit', 'verify')).toMatchObject({ exitCode: 0, err: '' })
    expect(await run(cwd, 'audit', 'list', '--json')).toMatchObject({ exitCode: 0 })
    expect(await run(cwd, 'sessions', 'delete', '--older-than', '1d', '--dry-run')).toEqual({
      exitCode: 0,
      out: '',
      err: '0 sessions would be removed.\n',
    })

    const { exitCode, out } = await run(cwd, 'doctor', '--json', '--port', port)
    const { ok, checks } = JSON.parse(out)
    expect([exitCode, ok]).toEqual([0, true])
    expect(checks).toContainEqual({
      name: 'Data',
      status: 'ok',
      detail: `${join(cwd, '.quarterdeck')} is used by a running server; the database is intact`,
    })
    expect(checks).toContainEqual({
      name: 'Port',
      status: 'ok',
      detail: `the running server answers on port ${port}`,
    })
  })

  test('commands that change data are refused and say what to do', async () => {
    const cwd = await tempFolder()
    await startTelling(cwd)
    const using = `quarterdeck: A server, or another command, is using ${join(cwd, '.quarterdeck')}.\n`
    const stop = '  Stop it, run this command again, then start the server.\n'

    expect(await run(cwd, 'sessions', 'import', '-')).toEqual({ exitCode: 73, out: '', err: using + stop })
    expect(await run(cwd, 'sessions', 'delete', '--older-than', '1d')).toEqual({
      exitCode: 73,
      out: '',
      err: `${using}${stop}  A running server removes old sessions itself, as sessions.retention_days says.\n`,
    })
  })
})
