import { describe, expect, test } from 'vitest'
import type { ChatClient } from './chat-client.ts'
import type { ChatEvent } from './chat-event.ts'
import { chatAtTerminal, chatThroughPipe } from './chat-loop.ts'
import { CliError } from './cli-error.ts'
import type { Asked, Prompt } from './terminal-prompt.ts'
import { createTestIo } from './testing/test-io.ts'

/** A conversation in which the agent repeats what it hears; `hang` goes on until it is cancelled or left. */
function createEcho(threadId: string): ChatClient & { heard: string[] } {
  const heard: string[] = []
  let cancelled: (() => void) | undefined
  return {
    threadId,
    heard,
    async *send(message, signal): AsyncGenerator<ChatEvent> {
      heard.push(message)
      if (message === 'refuse') throw new CliError(1, 'The queue is full.')
      if (message === 'fail') {
        yield { type: 'failed', code: 'model_failed', message: 'No model.' }
        return
      }
      yield { type: 'text', messageId: 'm', delta: `You said ${message}` }
      if (message.startsWith('hang')) {
        await new Promise<void>((resolve, reject) => {
          cancelled = resolve
          signal.addEventListener('abort', () => reject(new Error('aborted')))
        })
        yield { type: 'finished', outcome: 'cancelled' }
        return
      }
      yield { type: 'finished', outcome: 'success' }
    },
    async cancel() {
      cancelled?.()
    },
  }
}

function scriptedPrompt(...script: (string | Asked)[]): Prompt {
  const queue = script.map((entry): Asked => (typeof entry === 'string' ? { type: 'line', line: entry } : entry))
  return { ask: async () => queue.shift() ?? { type: 'end' } }
}

describe('a chat through a pipe', () => {
  test('answers each line that says something', async () => {
    const io = createTestIo({ stdin: 'one\n\n  \ntwo\r\nthree' })
    const client = createEcho('s')

    expect(await chatThroughPipe(client, io)).toBe(0)
    expect(client.heard).toEqual(['one', 'two', 'three'])
    expect(io.printed()).toBe('You said one\nYou said two\nYou said three\n')
  })

  test('stops at the first failure, with exit code 1', async () => {
    const io = createTestIo({ stdin: 'one\nfail\nthree\n' })
    const client = createEcho('s')

    expect(await chatThroughPipe(client, io)).toBe(1)
    expect(client.heard).toEqual(['one', 'fail'])
    expect(io.complained()).toBe('The answer failed: No model.\n')
  })
})

describe('a chat at a terminal', () => {
  test('knows /new, /help and /quit and points out a word it does not know', async () => {
    const io = createTestIo()
    const sessions: (string | null)[] = []
    const clients = [createEcho('first'), createEcho('second')]
    const open = (session: string | null) => {
      sessions.push(session)
      const client = clients[sessions.length - 1]
      if (client === undefined) throw new Error('a session too many')
      return client
    }

    const code = await chatAtTerminal(
      open,
      'first',
      scriptedPrompt('hi', '', '/new', 'ho', '/nwe', '/quit', 'late'),
      io,
    )

    expect([code, sessions, clients.map(({ heard }) => heard)]).toEqual([0, ['first', null], [['hi'], ['ho']]])
    expect(io.printed()).toBe(
      'You said hi\nNew session second.\nYou said ho\nThere is no /nwe.\n' +
        '/new    begin a new session\n/help   show this\n/quit   leave (also Ctrl-D)\nCtrl-C  stop the answer; twice leaves\n',
    )
  })

  test('leaves at the second Ctrl-C in a row, not at the first', async () => {
    const io = createTestIo()
    const interrupt: Asked = { type: 'interrupt' }
    const client = createEcho('s')

    await chatAtTerminal(() => client, null, scriptedPrompt(interrupt, 'hi', interrupt, interrupt, 'late'), io)

    expect(client.heard).toEqual(['hi'])
  })

  test('Ctrl-C during an answer cancels the run and the conversation goes on', async () => {
    const io = createTestIo()
    const client = createEcho('s')

    const chat = chatAtTerminal(() => client, null, scriptedPrompt('hang on', 'next'), io)
    await io.until('You said hang on')
    io.signal('SIGINT')

    expect(await chat).toBe(0)
    expect([client.heard, io.complained()]).toEqual([['hang on', 'next'], 'Stopped.\n'])
  })

  test('a second Ctrl-C during an answer leaves with 130, SIGTERM with 143', async () => {
    for (const [signals, code] of [
      [['SIGINT', 'SIGINT'], 130],
      [['SIGTERM'], 143],
    ] as const) {
      const io = createTestIo()
      const client: ChatClient = { ...createEcho('s'), cancel: async () => {} }
      const chat = chatAtTerminal(() => client, null, scriptedPrompt('hang on', 'next'), io)
      await io.until('You said hang on')
      for (const signal of signals) io.signal(signal)

      expect(await chat).toBe(code)
    }
  })

  test('a message that is refused does not end it', async () => {
    const io = createTestIo()
    const client = createEcho('s')

    expect(await chatAtTerminal(() => client, null, scriptedPrompt('refuse', 'hi'), io)).toBe(0)
    expect([client.heard, io.complained()]).toEqual([['refuse', 'hi'], 'quarterdeck: The queue is full.\n'])
  })
})
