import { expect, test } from 'vitest'
import { createRedaction } from '../middleware/middleware.ts'
import { resultForApp } from './app-activity.ts'

test('a result that is too large for the log is shown to the app as the model got it', () => {
  const whole = { content: [], structuredContent: { rows: 'x'.repeat(2_000_000) } }

  expect(resultForApp({ content: 'cut', isError: false, whole })).toEqual({
    content: [{ type: 'text', text: 'cut' }],
    isError: false,
  })
})

test('what is redacted in results and arguments is redacted in what apps are shown', () => {
  const redact = createRedaction([/secret-\d+/])
  const scope = { sessionId: 's', runId: 'r', agent: 'a' }
  const content = { result: { structuredContent: { key: ['secret-1', 7] } }, toolInput: { key: 'a secret-2' } }
  const event = { type: 'ACTIVITY_SNAPSHOT', messageId: 'm', activityType: 'mcp-apps', content } as const

  expect(redact(event, scope)).toMatchObject({
    content: { result: { structuredContent: { key: ['[redacted]', 7] } }, toolInput: { key: 'a [redacted]' } },
  })
})
