// An agent that we host says far too much: its run ends, or goes on, and the server neither grows nor keeps anybody waiting.

import { mkdir, mkdtemp, realpath, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { serversIn } from './support/start-server.ts'
import { until } from './support/until.ts'

const MB = 1024 * 1024
/** More than the server may grow, so that none of it can be kept. */
const FLOOD = 200 * MB
/** What a start of an agent and 1 MB of its words need, with room for the garbage of a busy machine. */
const MOST_GROWTH = 150 * MB
const SESSION = '0195f3c2-7a10-7000-8000-00000000aaaa'

test.each([
  ['in its answer', `flood ${FLOOD}`, { status: 'failed' }],
  ['in one line', `flood-line ${FLOOD}`, { status: 'failed', error: { code: 'host_failed' } }],
  ['to its log', `flood-errors ${FLOOD}\nsay Still here.`, { status: 'completed' }],
])('200 MB %s', async (_, message, end) => {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'quarterdeck-flood-')))
  const start = serversIn(directory, onTestFinished)
  await mkdir(join(directory, 'shop'))
  await mkdir(join(directory, 'data'), { mode: 0o700 })
  const host = {
    command: process.execPath,
    args: [join(import.meta.dirname, '../acp/scripted-agent.ts')],
    workspace: './shop',
  }
  await writeFile(join(directory, 'agent.yaml'), JSON.stringify({ name: 'coder', host }))
  const server = await start()
  const say = (text: string) =>
    fetch(`${server.url}/sessions/${SESSION}/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ message: text }),
    })
  const newest = async () => {
    const { runs } = (await (await fetch(`${server.url}/sessions/${SESSION}/runs`)).json()) as {
      runs: { status: string; error?: { code: string } }[]
    }
    return runs[0]
  }
  let most = 0
  const rested = () =>
    until('the run to end', async () => {
      most = Math.max(most, await server.rss())
      return !['queued', 'running'].includes((await newest())?.status ?? 'queued')
    })
  await say('say Hello.')
  await rested()
  const before = await server.rss()
  most = 0

  await say(message)
  await rested()

  expect(await newest()).toMatchObject(end)
  expect(most - before).toBeLessThan(MOST_GROWTH)
  await say('say Hello again.')
  await rested()
  expect(await newest()).toMatchObject({ status: 'completed' })
})
