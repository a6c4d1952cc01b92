import { describe, expect, test } from 'vitest'
import { PROTOBUF_TYPE, wantsProtobuf } from './stream-events.ts'

describe('the Accept header', () => {
  test.each([
    PROTOBUF_TYPE,
    `text/event-stream, ${PROTOBUF_TYPE}`,
    `${PROTOBUF_TYPE};q=0.1, text/event-stream`,
    `${PROTOBUF_TYPE} ; q = 0.5`,
    'Application/VND.ag-ui.event+PROTO',
  ])('asks for protobuf with %j', (accept) => {
    expect(wantsProtobuf(accept)).toBe(true)
  })

  test.each([
    undefined,
    '',
    '*/*',
    'application/*',
    'text/event-stream',
    'application/json',
    `${PROTOBUF_TYPE};q=0`,
    `${PROTOBUF_TYPE};q=0.000`,
    `${PROTOBUF_TYPE}x`,
    ';;,,',
  ])('does not with %j', (accept) => {
    expect(wantsProtobuf(accept)).toBe(false)
  })
})
