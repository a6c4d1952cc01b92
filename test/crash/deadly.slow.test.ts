// A tool call or a model answer that kills the whole process is tried once more. After the second crash a person must review the
// run. The server stays up, whatever an agent's tools do.
//
//   LONG=1 vitest run test/crash/deadly.slow.test.ts      every way to die (`npm run test:long`)

import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isLong } from './support/figures.ts'
import { endOf, eventsOf } from './support/operator.ts'
import { runInput } from './support/run-input.ts'
import { record } from './support/sse-recorder.ts'
import { DidNotStart, openYard, type TestServer, type Yard, type YardOptions } from './support/start-server.ts'
import { until } from './support/until.ts'

const source = `
import { appendFileSync, existsSync } from 'node:fs'

export async function look({ name, how }: { name: string; how: string }) {
  appendFileSync('starts', name + '\\n')
  if (existsSync('mended-' + name)) return 'Seen.'
  if (how === 'kill') process.kill(process.pid, 'SIGKILL')
  if (how === 'abort') process.abort()
  if (how === 'exit') process.exit(1)
  await new Promise((resolve) => setTimeout(resolve, 60_000))
  return 'Late.'
}
`

const tools = [
  {
    type: 'function',
    name: 'look',
    description: 'Takes the process with it.',
    file: 'look.ts',
    parameters: { name: { type: 'string' }, how: { type: 'string' } },
    effect: 'read',
    timeout: '120s',
  },
]

const call = (name: string, how: string) => ({ tool_call: { name: 'look', arguments: { name, how } } })

const yardOf = (answers: YardOptions['answers'], agent: Record<string, unknown> = {}): YardOptions => ({
  files: { 'look.ts': source },
  agent: { tools, ...agent },
  answers: [...(answers ?? []), { parts: [{ text: 'Well.' }] }],
})

const starts = ({ directory }: Yard): string[] => readFileSync(join(directory, 'starts'), 'utf8').trim().split('\n')

/** Starts a server that recovers what the last one left. Null: that killed it too, before or after it was ready. */
async function startAgain(yard: Yard, isOver: (server: TestServer) => Promise<boolean>): Promise<TestServer | null> {
  try {
    const server = await yard.start({ flags: ['--log-level', 'warn'] })
    const lives = (async () => {
      while (!(await isOver(server).catch(() => false))) await new Promise((resolve) => setTimeout(resolve, 20))
      return server
    })()
    return await Promise.race([lives, server.exited.then(() => null)])
  } catch (error) {
    if (error instanceof DidNotStart) return null
    throw error
  }
}

const isEnded = (runId: string) => async (server: TestServer) => {
  const { body } = await record({ url: `${server.url}/runs/${runId}` }).done
  return ['completed', 'failed', 'interrupted', 'cancelled'].includes(JSON.parse(body).status)
}

/** Starts the run, which kills the server. */
async function dieOf(yard: Yard, runId: string): Promise<void> {
  const server = await yard.start({ flags: ['--log-level', 'warn'] })
  await record({ url: server.url, method: 'POST', body: runInput(runId, runId, `Please look, ${runId};`) }).done
  await server.exited
}

describe('a read tool that kills its process', () => {
  test.each(isLong ? ['kill', 'abort', 'exit'] : ['kill'])(
    '(%s) is started twice, then the run asks for a review and the server lives',
    async (how) => {
      const yard = await openYard(onTestFinished, yardOf([{ when: 'look, one;', parts: [call('one', how)] }]))
      await dieOf(yard, 'one')
      expect(await startAgain(yard, isEnded('one'))).toBe(null)
      const third = await startAgain(yard, isEnded('one'))
      if (third === null) throw new Error('the third start died too')
      const { code, message } = endOf(await eventsOf(third.url, 'one'))
      expect([code, message]).toEqual([
        'needs_review',
        expect.stringMatching(/died 2 times while look \(call_\S+\) was/),
      ])
      expect(third.log()).toMatch(/a person has to look at it.*died 2 times while look \(call_/)
      expect(starts(yard)).toEqual(['one', 'one'])
      // The session is still usable, and the next start does not try the call again either.
      const next = await record({ url: third.url, method: 'POST', body: runInput('one', 'two', 'Are you there?') }).done
      expect(endOf(next.frames)).toEqual({ outcome: 'success' })
      await third.kill()
      await startAgain(yard, async () => true)
      expect(starts(yard)).toEqual(['one', 'one'])
    },
  )

  test('only at the first attempt is completed by the second', async () => {
    const yard = await openYard(onTestFinished, yardOf([{ when: 'look, one;', parts: [call('one', 'kill')] }]))
    await dieOf(yard, 'one')
    writeFileSync(join(yard.directory, 'mended-one'), '')
    const second = await startAgain(yard, isEnded('one'))
    if (second === null) throw new Error('the second start died')
    expect(endOf(await eventsOf(second.url, 'one'))).toEqual({ outcome: 'success' })
    expect(starts(yard)).toEqual(['one', 'one'])
  })

  test('is found among the calls of a sub-agent', async () => {
    const helper = {
      name: 'helper',
      description: 'Looks at things for others.',
      model: { provider: 'scripted', name: 'script', script: 'helper.json' },
      instructions: { inline: 'You help.' },
      tools,
    }
    const ask = { tool_call: { name: 'ask_helper', arguments: { message: 'Look.' } } }
    const options = yardOf([{ when: 'look, one;', parts: [ask] }], {
      tools: [{ type: 'agent', name: 'ask_helper', agent: 'helper.yaml' }],
    })
    const yard = await openYard(onTestFinished, {
      ...options,
      files: {
        ...options.files,
        'helper.yaml': JSON.stringify(helper),
        'helper.json': JSON.stringify({ loop: true, answers: [{ parts: [call('one', 'kill')] }] }),
      },
    })
    await dieOf(yard, 'one')
    expect(await startAgain(yard, isEnded('one'))).toBe(null)
    const third = await startAgain(yard, isEnded('one'))
    if (third === null) throw new Error('the third start died too')
    const { code, message } = endOf(await eventsOf(third.url, 'one'))
    expect([code, message]).toEqual(['needs_review', expect.stringMatching(/died 2 times while look \(call_\S+\) was/)])
    expect(starts(yard)).toEqual(['one', 'one'])
  })
})

describe('an answer of the model that kills the process', () => {
  test('is asked for twice, then the run asks for a review and the server lives', async () => {
    const pids: number[] = []
    let asked = 0
    const model = createServer((request, response) => {
      asked += 1
      request.resume()
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      response.write('data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Half"}}]}\n\n')
      // Stands for an answer that is too large for the memory.
      for (const pid of pids.splice(0)) process.kill(pid, 'SIGKILL')
    })
    await once(model.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void model.closeAllConnections())
    onTestFinished(() => void model.close())
    const { port } = Object(model.address())
    const yard = await openYard(onTestFinished, {
      model: { provider: 'openai', name: 'm', base_url: `http://127.0.0.1:${port}/v1`, api_key: 'k', retries: 0 },
    })
    const first = await yard.start({ flags: ['--log-level', 'warn'] })
    pids.push(first.pid)
    await record({ url: first.url, method: 'POST', body: runInput('one', 'one', 'Hello?') }).done
    await first.exited
    // The model may be asked again before the server is ready, so the server is killed once its process is known.
    const second = await yard.start({ flags: ['--log-level', 'warn'] })
    await until('the model is asked again', () => asked === 2)
    await second.kill()
    const third = await startAgain(yard, isEnded('one'))
    if (third === null) throw new Error('the third start died too')
    const { code, message } = endOf(await eventsOf(third.url, 'one'))
    expect([code, message]).toEqual(['needs_review', expect.stringContaining('the model was answering in step_1')])
    expect(asked).toBe(2)
  })
})
