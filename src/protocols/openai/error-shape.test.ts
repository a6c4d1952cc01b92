import { expect, test } from 'vitest'
import { errorCodes, ServerError } from '../../domain/errors.ts'
import { problemOf } from '../../http/problem.ts'
import { errorOf, openAiErrorShape } from './error-shape.ts'

const request = { path: '/v1/models', correlationId: 'c' }

test('a problem becomes an error object that says where the request is wrong', () => {
  const error = new ServerError('invalid_request', 'The body is wrong.', {
    problems: [
      { pointer: '/messages/0/content', detail: 'Write something.' },
      { pointer: '/a~1b', detail: 'No.' },
    ],
  })

  expect(openAiErrorShape(problemOf(error, request))).toEqual({
    status: 400,
    contentType: 'application/json',
    body: {
      error: {
        message: 'The body is wrong. messages[0].content: Write something. a/b: No.',
        type: 'invalid_request_error',
        param: 'messages[0].content',
        code: 'invalid_request',
      },
    },
  })
})

test('every status is one after which clients do the right thing', () => {
  const shown = errorCodes.map((code) => openAiErrorShape(problemOf(new ServerError(code, 'Why.'), request)).status)

  // What a repeat cannot change; 408, 429 and 5xx are for what it can.
  const final = [...new Set(shown)].filter((status) => status < 500 && status !== 408 && status !== 429)
  expect(final.sort()).toEqual([400, 401, 403, 404, 405, 406, 413])
})

test.each([
  ['model_rate_limited', 503],
  ['model_failed', 502],
  ['model_context_overflow', 413],
] as const)('%s is %i, and if another try cannot help, none that is repeated', (code, usual) => {
  const shape = (details: Record<string, unknown>) =>
    openAiErrorShape(problemOf(new ServerError(code, 'Why.', { details }), request)).status

  expect([shape({}), shape({ is_final: true })]).toEqual([usual, usual === 413 ? 413 : 400])
})

test.each([
  ['unauthorized', 'authentication_error', 'unauthorized'],
  ['forbidden', 'permission_error', 'forbidden'],
  ['queue_full', 'rate_limit_error', 'queue_full'],
  ['model_timeout', 'server_error', 'model_timeout'],
  ['agent_not_found', 'invalid_request_error', 'model_not_found'],
] as const)('%s is of the type %s', (code, type, shown) => {
  expect(errorOf(new ServerError(code, 'Why.'))).toEqual({ message: 'Why.', type, param: null, code: shown })
})
