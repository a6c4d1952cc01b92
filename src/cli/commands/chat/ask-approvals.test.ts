import { describe, expect, test } from 'vitest'
import type { Asked } from '../../terminal/terminal-prompt.ts'
import { pendingApproval, scriptedPrompts } from '../../testing/chat-talk.ts'
import { createTestIo } from '../../testing/test-io.ts'
import { createApprovalNotice, createApprovalQuestions } from './ask-approvals.ts'

const howToAnswer = (id: string) => [`POST /approvals/${id}`, 'with a token']
const never = new AbortController().signal
const anything = { mayAnswer: () => true }
const TOLD = 'The agent asks to call send (risk high):\n  to: bob\n  Approval a\n  POST /approvals/a\n  with a token\n'

function terminalDesk(...script: (string | Asked)[]) {
  const io = createTestIo()
  const { open: openPrompt } = scriptedPrompts(...script)
  const askToken = async () => false
  const again = () => ['/approvals asks again.']
  return { io, askApprovals: createApprovalQuestions({ openPrompt, askToken, howToAnswer, again }, io) }
}

describe('where a conversation’s open questions go', () => {
  test('through a pipe to stderr, with the id and how it is answered', async () => {
    const io = createTestIo()

    expect(await createApprovalNotice(howToAnswer, io)([pendingApproval('a')], anything, never)).toEqual([])
    expect([io.printed(), io.complained()]).toEqual(['', TOLD])
  })

  test('at a terminal to the person, one after the other', async () => {
    const { askApprovals } = terminalDesk('y', 'n', 'No.')

    expect(await askApprovals([pendingApproval('a'), pendingApproval('b')], anything, never)).toEqual([
      { id: 'a', digest: 'seen-a', approved: true },
      { id: 'b', digest: 'seen-b', approved: false, reason: 'No.' },
    ])
  })

  test('after Ctrl-C nothing is answered, also what was said before it', async () => {
    const { askApprovals, io } = terminalDesk('y', { type: 'interrupt' })

    expect(await askApprovals([pendingApproval('a'), pendingApproval('b')], anything, never)).toEqual([])
    expect(io.printed()).toMatch(/\nThey stay pending, unanswered: approvals a, b\n {2}\/approvals asks again\.\n$/)
  })

  test('a question that somebody else has answered is taken away without a word', async () => {
    const { askApprovals, io } = terminalDesk('y', { type: 'withdrawn' })
    const taken = new AbortController()
    const asked = askApprovals([pendingApproval('a'), pendingApproval('b')], anything, taken.signal)
    taken.abort()

    expect([await asked, io.printed().includes('pending')]).toEqual([[], false])
  })

  test('a person is not asked what only others may answer, and is told how those do', async () => {
    const { askApprovals, io } = terminalDesk('y')
    const client = { mayAnswer: ({ id }: { id: string }) => id === 'b' }

    expect(await askApprovals([pendingApproval('a'), pendingApproval('b')], client, never)).toEqual([
      { id: 'b', digest: 'seen-b', approved: true },
    ])
    expect(io.complained()).toBe(TOLD)
  })
})
