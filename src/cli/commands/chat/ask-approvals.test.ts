import { describe, expect, test } from 'vitest'
import type { Asked } from '../../terminal/terminal-prompt.ts'
import { pendingApproval, scriptedPrompts } from '../../testing/chat-talk.ts'
import { createTestIo } from '../../testing/test-io.ts'
import { createApprovalNotice, createApprovalQuestions } from './ask-approvals.ts'

const howToAnswer = (id: string) => [`POST /approvals/${id}`, 'with a token']
const never = new AbortController().signal
const view = async () => null
const anything = { mayAnswer: () => true, view }
const TOLD = 'The agent asks to call send (risk high):\n  to: bob\n  Approval a\n  POST /approvals/a\n  with a token\n'

function terminal(...script: (string | Asked)[]) {
  const io = createTestIo()
  const { open: openPrompt } = scriptedPrompts(...script)
  const askToken = async () => false
  const again = () => ['/approvals asks again.']
  return { io, askApprovals: createApprovalQuestions({ openPrompt, askToken, howToAnswer, again }, io) }
}

describe('pending approvals', () => {
  test('go to stderr in a pipe, with the id and how to answer', async () => {
    const io = createTestIo()

    expect(await createApprovalNotice(howToAnswer, io)([pendingApproval('a')], anything, never)).toEqual([])
    expect([io.printed(), io.complained()]).toEqual(['', TOLD])
  })

  test('are asked at a terminal, one after the other', async () => {
    const { askApprovals } = terminal('y', 'n', 'No.')

    expect(await askApprovals([pendingApproval('a'), pendingApproval('b')], anything, never)).toEqual([
      { id: 'a', digest: 'seen-a', approved: true },
      { id: 'b', digest: 'seen-b', approved: false, reason: 'No.' },
    ])
  })

  test('are all unanswered after Ctrl-C, including earlier answers', async () => {
    const { askApprovals, io } = terminal('y', { type: 'interrupt' })

    expect(await askApprovals([pendingApproval('a'), pendingApproval('b')], anything, never)).toEqual([])
    expect(io.printed()).toMatch(/\nThey stay pending, unanswered: approvals a, b\n {2}\/approvals asks again\.\n$/)
  })

  test('disappear silently when somebody else has answered', async () => {
    const { askApprovals, io } = terminal('y', { type: 'withdrawn' })
    const taken = new AbortController()
    const asked = askApprovals([pendingApproval('a'), pendingApproval('b')], anything, taken.signal)
    taken.abort()

    expect([await asked, io.printed().includes('pending')]).toEqual([[], false])
  })

  test('that only others may answer are not asked, and it says how to answer them', async () => {
    const { askApprovals, io } = terminal('y')
    const client = { mayAnswer: ({ id }: { id: string }) => id === 'b', view }

    expect(await askApprovals([pendingApproval('a'), pendingApproval('b')], client, never)).toEqual([
      { id: 'b', digest: 'seen-b', approved: true },
    ])
    expect(io.complained()).toBe(TOLD)
  })
})
