import { describe, expect, test } from 'vitest'
import { CliError } from '../../cli-error.ts'
import type { Asked } from '../../terminal/terminal-prompt.ts'
import { pendingApproval, scriptedPrompt } from '../../testing/chat-talk.ts'
import { createTestIo } from '../../testing/test-io.ts'
import type { AskApprovals } from './ask-approvals.ts'
import type { ChatClient } from './chat-client.ts'
import type { ApprovalAnswer, ChatEvent } from './chat-event.ts'
import { chatAtTerminal, chatThroughPipe } from './chat-loop.ts'

/**
 * A conversation in which the agent repeats each message. `hang` goes on until it is cancelled or left. `ask` waits for two answers, which
 * may come one at a time; the reason 'wrong' is refused. Until then, messages are refused.
 */
function createEcho(session: string): ChatClient & { heard: string[]; given: ApprovalAnswer[][] } {
  const heard: string[] = []
  const given: ApprovalAnswer[][] = []
  let waiting: string[] = []
  let cancelled: (() => void) | undefined
  return {
    session,
    heard,
    given,
    approvals: async () => waiting.map((id) => pendingApproval(id)),
    mayAnswer: () => true,
    view: async () => null,
    async *answeredElsewhere() {},
    async *answer(answers): AsyncGenerator<ChatEvent> {
      given.push([...answers])
      if (answers.some(({ reason }) => reason === 'wrong')) throw new CliError(1, 'That does not fit.')
      for (const { id } of answers) yield { type: 'tool_result', id: `call-${id}`, content: 'done' }
      waiting = waiting.filter((id) => !answers.some((one) => one.id === id))
      yield waiting.length === 0
        ? { type: 'finished', outcome: 'success' }
        : { type: 'finished', outcome: 'interrupt', approvals: waiting.map((id) => pendingApproval(id)) }
    },
    async *send(message, signal): AsyncGenerator<ChatEvent> {
      heard.push(message)
      if (waiting.length > 0) throw new CliError(1, 'It waits.')
      if (message === 'ask') {
        waiting = ['a', 'b']
        yield { type: 'finished', outcome: 'interrupt', approvals: waiting.map((id) => pendingApproval(id)) }
        return
      }
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

/** Leaves everything pending. */
const nobody: AskApprovals = async () => []

describe('a chat through a pipe', () => {
  test('answers each line that is not empty', async () => {
    const io = createTestIo({ stdin: 'one\n\n  \ntwo\r\nthree' })
    const client = createEcho('s')

    expect(await chatThroughPipe(client, nobody, io)).toBe(0)
    expect(client.heard).toEqual(['one', 'two', 'three'])
    expect(io.printed()).toBe('You said one\nYou said two\nYou said three\n')
  })

  test('stops at the first failure, with exit code 1', async () => {
    const io = createTestIo({ stdin: 'one\nfail\nthree\n' })
    const client = createEcho('s')

    expect(await chatThroughPipe(client, nobody, io)).toBe(1)
    expect(client.heard).toEqual(['one', 'fail'])
    expect(io.complained()).toBe('The answer failed: No model.\nMore: quarterdeck explain model_failed\n')
  })
})

describe('a chat at a terminal', () => {
  test('knows /new, /help and /quit and reports unknown commands', async () => {
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
      nobody,
      io,
    )

    expect([code, sessions, clients.map(({ heard }) => heard)]).toEqual([0, ['first', null], [['hi'], ['ho']]])
    expect(io.printed()).toBe(
      'You said hi\nNew session second.\nYou said ho\nThere is no /nwe.\n' +
        '/new        start a new session\n' +
        '/approvals  show what waits for approval, and ask again\n' +
        '/help       show this help\n' +
        '/quit       leave (also Ctrl-D)\n' +
        'Ctrl-C      stop the answer; twice leaves\n',
    )
  })

  test('leaves at the second Ctrl-C in a row, not at the first', async () => {
    const io = createTestIo()
    const interrupt: Asked = { type: 'interrupt' }
    const client = createEcho('s')

    await chatAtTerminal(() => client, null, scriptedPrompt(interrupt, 'hi', interrupt, interrupt, 'late'), nobody, io)

    expect(client.heard).toEqual(['hi'])
  })

  test('Ctrl-C during an answer cancels the run and the conversation goes on', async () => {
    const io = createTestIo()
    const client = createEcho('s')

    const chat = chatAtTerminal(() => client, null, scriptedPrompt('hang on', 'next'), nobody, io)
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
      const chat = chatAtTerminal(() => client, null, scriptedPrompt('hang on', 'next'), nobody, io)
      await io.until('You said hang on')
      for (const signal of signals) io.signal(signal)

      expect(await chat).toBe(code)
    }
  })

  test('a refused message does not end it', async () => {
    const io = createTestIo()
    const client = createEcho('s')

    expect(await chatAtTerminal(() => client, null, scriptedPrompt('refuse', 'hi'), nobody, io)).toBe(0)
    expect([client.heard, io.complained()]).toEqual([['refuse', 'hi'], 'quarterdeck: The queue is full.\n'])
  })
})

describe('a chat with calls that need approval', () => {
  const yes = (id: string): ApprovalAnswer => ({ id, digest: `seen-${id}`, approved: true })
  const wrong: ApprovalAnswer = { id: 'a', digest: 'seen-a', approved: true, reason: 'wrong' }

  /** Gives the scripted answers, one entry each time. Records what it was asked about. */
  function scriptedAnswers(...script: ApprovalAnswer[][]): { askApprovals: AskApprovals; asked: string[][] } {
    const asked: string[][] = []
    const askApprovals: AskApprovals = async (approvals) => {
      asked.push(approvals.map(({ id }) => id))
      return script.shift() ?? []
    }
    return { askApprovals, asked }
  }

  test('continues with the answers until nothing waits', async () => {
    const io = createTestIo({ terminal: true, env: { NO_COLOR: '1' } })
    const client = createEcho('s')
    const { askApprovals, asked } = scriptedAnswers([yes('a')], [{ ...yes('b'), arguments: { to: 'eve' } }])

    await chatAtTerminal(() => client, null, scriptedPrompt('ask', 'hi'), askApprovals, io)

    expect([client.heard, client.given, asked]).toEqual([
      ['ask', 'hi'],
      [[yes('a')], [{ ...yes('b'), arguments: { to: 'eve' } }]],
      [['a', 'b'], ['b']],
    ])
    // The run that brings the result shows the call with its final arguments.
    expect(io.printed()).toBe('⚙ send({"to":"bob"})\n  → done\n⚙ send({"to":"eve"})\n  → done\nYou said hi\n\n')
  })

  test('asks once more when an answer is refused', async () => {
    const io = createTestIo()
    const client = createEcho('s')
    const { askApprovals, asked } = scriptedAnswers([wrong], [yes('a'), yes('b')])

    await chatAtTerminal(() => client, null, scriptedPrompt('ask'), askApprovals, io)

    expect([client.given, asked, io.complained()]).toEqual([
      [[wrong], [yes('a'), yes('b')]],
      [
        ['a', 'b'],
        ['a', 'b'],
      ],
      'quarterdeck: That does not fit.\n',
    ])
  })

  test('asks again at /approvals, and after a message during the wait', async () => {
    const io = createTestIo()
    const client = createEcho('s')
    const { askApprovals, asked } = scriptedAnswers([], [], [yes('a'), yes('b')])

    await chatAtTerminal(() => client, null, scriptedPrompt('ask', 'hi', '/approvals', '/approvals'), askApprovals, io)

    expect(asked).toEqual([
      ['a', 'b'],
      ['a', 'b'],
      ['a', 'b'],
    ])
    expect([io.printed(), io.complained()]).toEqual([
      'Nothing in this session waits for your answer.\n\n',
      'quarterdeck: It waits.\n',
    ])
  })

  test('through a pipe succeeds if the last message waits, and fails if another follows', async () => {
    for (const [stdin, code] of [
      ['ask\n', 0],
      ['ask\nhi\n', 1],
    ] as const) {
      expect(await chatThroughPipe(createEcho('s'), nobody, createTestIo({ stdin }))).toBe(code)
    }
  })

  describe('while it waits', () => {
    /** Like the echo. `decide` plays somebody else who answers; `Yes.` is the result. */
    function withOthers() {
      const client = createEcho('s')
      const decided = Promise.withResolvers<void>()
      const others: ChatClient = {
        ...client,
        async *answeredElsewhere(signal) {
          const left = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
          await Promise.race([decided.promise, left])
          if (signal.aborted) return
          yield { type: 'text', messageId: 'x', delta: 'Yes.' }
          yield { type: 'finished', outcome: 'success' }
        },
      }
      return { client: others, decide: decided.resolve }
    }
    const withdrawn = (signal: AbortSignal) =>
      new Promise<Asked>((resolve) => signal.addEventListener('abort', () => resolve({ type: 'withdrawn' })))

    test('stops asking and shows the answer when somebody else has decided', async () => {
      const io = createTestIo()
      const { client, decide } = withOthers()
      const askApprovals: AskApprovals = async (_approvals, _client, signal) => {
        decide()
        await withdrawn(signal)
        return []
      }

      expect(await chatAtTerminal(() => client, null, scriptedPrompt('ask', '/quit'), askApprovals, io)).toBe(0)
      expect(io.printed()).toBe('Somebody else answered, or its time was over.\nYes.\n')
    })

    test('also shows it at the prompt, after the question was left unanswered', async () => {
      const io = createTestIo()
      const { client, decide } = withOthers()
      let asked = 0
      const prompt = {
        async ask(signal?: AbortSignal): Promise<Asked> {
          asked += 1
          if (asked === 1) return { type: 'line', line: 'ask' }
          if (signal === undefined) return { type: 'end' }
          decide()
          return await withdrawn(signal)
        },
      }

      expect(await chatAtTerminal(() => client, null, prompt, nobody, io)).toBe(0)
      expect(io.printed()).toBe('Somebody else answered, or its time was over.\nYes.\n\n')
    })
  })
})
