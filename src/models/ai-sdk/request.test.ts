import { expect, test } from 'vitest'
import type { ModelSettings } from '../../domain/agent/agent.ts'
import { emptyRequest } from '../testing/fixtures.ts'
import { callOptions } from './request.ts'

const settings: ModelSettings = {
  provider: 'ai-sdk',
  package: '@ai-sdk/mistral',
  name: 'x',
  contextWindow: 128_000,
  retries: 0,
  firstTokenTimeoutMs: 1_000,
  tokenTimeoutMs: 1_000,
}

test('the trace goes along as headers', () => {
  const trace = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' }

  expect(callOptions({ ...emptyRequest, trace }, settings, 'v3').headers).toEqual(trace)
  expect(callOptions(emptyRequest, settings, 'v3')).not.toHaveProperty('headers')
})

test.each([
  ['v2', 'cG5n'],
  ['v3', 'cG5n'],
  ['v4', { type: 'data', data: 'cG5n' }],
] as const)('a file is a part in the shape of version %s', (version, data) => {
  const attachments = [
    { type: 'image', mimeType: 'image/png', data: 'cG5n', name: 'photo.png', tokens: 1_500 },
  ] as const
  const request = { ...emptyRequest, messages: [{ role: 'user', content: 'Look.', attachments } as const] }
  expect(callOptions(request, settings, version).prompt).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look.' },
        { type: 'file', mediaType: 'image/png', filename: 'photo.png', data },
      ],
    },
  ])
})
