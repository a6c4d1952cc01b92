import { describe, expect, test } from 'vitest'
import { completionId, itemId, parseItemId, responseId, runIdOf } from './wire-ids.ts'

const runId = '0198a3c4-5d6e-7f80-9a1b-2c3d4e5f6071'
const messageId = '0198a3c4-5d6e-7f80-9a1b-2c3d4e5f6072'

describe('ids in OpenAI’s spelling', () => {
  test('hold ours', () => {
    expect(completionId(runId)).toBe('chatcmpl-0198a3c45d6e7f809a1b2c3d4e5f6071')
    expect(runIdOf(responseId(runId))).toBe(runId)
    expect(parseItemId(itemId({ runId, messageId }))).toEqual({ runId, messageId })
  })

  test('are taken as they are where they name a run of another door', () => {
    expect(runIdOf(runId)).toBe(runId)
    expect(runIdOf('my-run')).toBe('my-run')
  })

  test.each(['', 'msg_1', 'rs_0198a3c45d6e7f809a1b2c3d4e5f6071', `${itemId({ runId, messageId })}0`])(
    'name no item when they are not ours: %j',
    (text) => expect(parseItemId(text)).toBeNull(),
  )
})
