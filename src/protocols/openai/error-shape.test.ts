import { expect, test } from 'vitest'
import { ServerError } from '../../domain/errors.ts'
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

test.each([
  ['unauthorized', 'authentication_error', 'unauthorized'],
  ['forbidden', 'permission_error', 'forbidden'],
  ['queue_full', 'rate_limit_error', 'queue_full'],
  ['model_timeout', 'server_error', 'model_timeout'],
  ['agent_not_found', 'invalid_request_error', 'model_not_found'],
] as const)('%s is of the type %s', (code, type, shown) => {
  expect(errorOf(new ServerError(code, 'Why.'))).toEqual({ message: 'Why.', type, param: null, code: shown })
})
