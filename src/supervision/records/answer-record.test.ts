import { expect, test } from 'vitest'
import { actionNames } from '../../domain/records/record-kinds.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import { type AnswerRecord, createAnswerRecord, type GivenAnswer } from './answer-record.ts'

const ada: Caller = { user: 'ada', role: 'operator' }

/** What reaches the parts that keep the records, in the order in which it came. */
function openAnswer() {
  const calls: unknown[] = []
  const keeps =
    (part: string) =>
    async (_by: Caller, id: string, given?: unknown): Promise<never> => {
      calls.push(given === undefined ? [part, id] : [part, id, given])
      return { approval: null, run: null } as never
    }
  const answer = createAnswerRecord({
    approvals: { decide: keeps('approval') },
    prompts: { decide: keeps('prompt'), resume: keeps('standby') },
    stalls: { nudge: keeps('nudge'), dismiss: keeps('dismiss'), stop: keeps('stop') },
  })
  return { answer, calls }
}

test.each<[keyof AnswerRecord, GivenAnswer, unknown[]]>([
  [
    'approval',
    { action: 'approve', decision: { digest: 'd' } },
    ['approval', 'r', { decision: 'approve', digest: 'd' }],
  ],
  [
    'approval',
    { action: 'edit', decision: { arguments: {} } },
    ['approval', 'r', { decision: 'approve', arguments: {} }],
  ],
  ['approval', { action: 'reject', text: 'No.' }, ['approval', 'r', { decision: 'reject', reason: 'No.' }]],
  ['approval', { action: 'answer', decision: { result: 4 } }, ['approval', 'r', { decision: 'respond', result: 4 }]],
  ['prompt', { action: 'continue' }, ['prompt', 'r', { decision: 'continue' }]],
  ['prompt', { action: 'refine', text: 'Less.' }, ['prompt', 'r', { decision: 'refine', instruction: 'Less.' }]],
  ['prompt', { action: 'stop', text: 'Enough.' }, ['prompt', 'r', { decision: 'stop', reason: 'Enough.' }]],
  ['standby', { action: 'resume' }, ['standby', 'r', { instruction: null }]],
  ['standby', { action: 'resume', text: 'Docs.' }, ['standby', 'r', { instruction: 'Docs.' }]],
  ['standby', { action: 'stop' }, ['standby', 'r', { instruction: 'stop' }]],
  ['alert', { action: 'nudge', text: 'Hey' }, ['nudge', 'r', 'Hey']],
  ['alert', { action: 'dismiss' }, ['dismiss', 'r']],
  ['alert', { action: 'stop' }, ['stop', 'r']],
])('%s takes %j', async (kind, given, called) => {
  const { answer, calls } = openAnswer()
  await answer[kind](ada, 'r', given)

  expect(calls).toEqual([called])
})

test.each<[keyof AnswerRecord, string[]]>([
  ['approval', ['approve', 'reject', 'edit', 'answer']],
  ['prompt', ['continue', 'refine', 'stop']],
  ['standby', ['resume', 'stop']],
  ['alert', ['nudge', 'dismiss', 'stop']],
])('%s takes no other action', async (kind, own) => {
  for (const action of actionNames.filter((name) => !own.includes(name))) {
    const { answer, calls } = openAnswer()

    await expect(answer[kind](ada, 'r', { action })).rejects.toMatchObject({ code: 'invalid_request' })
    expect(calls).toEqual([])
  }
})
