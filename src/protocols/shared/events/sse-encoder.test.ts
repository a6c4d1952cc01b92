import { describe, expect, test } from 'vitest'
import { ulidOf } from '../../../domain/ids.ts'
import type { Entry } from '../../../domain/session/entry.ts'
import { createSseEncoder } from './encode-events.ts'

const ulid = ulidOf('0192f3a1-7b2c-7def-8abc-0123456789ab')
const event = (seq: number, data: string): Entry => ({ seq, runId: 'r', kind: 'event', data })
const fact = (seq: number): Entry => ({ seq, runId: 'r', kind: 'fact', data: '{"fact":"run_accepted"}' })
const delta = '{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"\\n\\u2028\\"","timestamp":1}'
const cancelled = '{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"cancelled"},"timestamp":2}'

describe('the SSE encoder', () => {
  test('sends a 1.x reader the stored text as it is, with the id of each entry, in one chunk', () => {
    const chunk = createSseEncoder('1.x').entries([event(7, delta), event(8, cancelled)], ulid)

    expect(chunk).toBe(`id: ${ulid}.7\ndata: ${delta}\n\nid: ${ulid}.8\ndata: ${cancelled}\n\n`)
  })

  test('keeps facts to itself', () => {
    const encoder = createSseEncoder('1.x')

    expect(encoder.entries([fact(1), event(2, delta), fact(3)], ulid)).toBe(`id: ${ulid}.2\ndata: ${delta}\n\n`)
    expect(encoder.entries([fact(1)], ulid)).toBeNull()
    expect(encoder.entries([], ulid)).toBeNull()
  })

  test('sends a 0.x reader what it can read, under the same ids', () => {
    const chunk = createSseEncoder('0.x').entries([event(7, delta), event(8, cancelled)], ulid)

    expect(chunk).toBe(
      `id: ${ulid}.7\ndata: ${delta}\n\nid: ${ulid}.8\ndata: {"type":"RUN_ERROR","timestamp":2,"message":"The run was stopped.","code":"cancelled"}\n\n`,
    )
  })

  test('gives no id to what is made for one reader', () => {
    expect(createSseEncoder('1.x').events([{ type: 'RUN_ERROR', message: 'no', code: 'x' }])).toBe(
      'data: {"type":"RUN_ERROR","message":"no","code":"x"}\n\n',
    )
  })
})
