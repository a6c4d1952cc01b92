import { describe, expect, test } from 'vitest'
import { ServerError, sessionNotFound } from '../domain/errors.ts'
import { asServerError, problemHeaders, problemOf } from './problem.ts'
import { collectLines, type LogLine } from './testing/server-fixture.ts'

const request = { path: '/sessions/x', correlationId: 'c-1' }

describe('problems', () => {
  test('have a code, a sentence, the path and facts', () => {
    expect(problemOf(sessionNotFound('x'), request)).toEqual({
      type: 'https://quarterdeck.dev/errors/session_not_found',
      title: 'Session not found',
      status: 404,
      detail: 'There is no session "x".',
      instance: '/sessions/x',
      code: 'session_not_found',
      correlation_id: 'c-1',
      session_id: 'x',
    })
  })

  test('list the problems of an input', () => {
    const problems = [{ pointer: '/message', detail: 'is missing' }]

    expect(problemOf(new ServerError('invalid_request', 'Bad.', { problems }), request).errors).toEqual(problems)
  })

  test('details cannot replace a member of the standard', () => {
    const error = new ServerError('conflict', 'Taken.', {
      details: { status: 200, code: 'fine', type: 'x', by: 'ada' },
    })

    expect(problemOf(error, request)).toEqual({
      type: 'https://quarterdeck.dev/errors/conflict',
      title: 'Conflict',
      status: 409,
      detail: 'Taken.',
      instance: '/sessions/x',
      code: 'conflict',
      correlation_id: 'c-1',
      by: 'ada',
    })
  })

  test('an unexpected error is logged and answered with a fixed text', () => {
    const lines: LogLine[] = []
    const bug = new TypeError('password is hunter2')

    const { code, message, details } = asServerError(bug, collectLines(lines))

    expect({ code, message, details }).toEqual({
      code: 'internal_error',
      message: 'The server could not answer. Look for the correlation id in its log to find the reason.',
      details: {},
    })
    expect(lines).toEqual([{ level: 'error', message: 'unexpected error', error: bug }])
  })

  test.each([
    ['unauthorized', {}, { 'WWW-Authenticate': 'Bearer realm="quarterdeck"' }],
    ['method_not_allowed', { allow: ['GET', 'HEAD'] }, { Allow: 'GET, HEAD' }],
    ['rate_limited', { retry_after_seconds: 7.2 }, { 'Retry-After': '8' }],
    ['not_ready', {}, { 'Retry-After': '1' }],
    ['conflict', {}, {}],
  ] as const)('%s brings the headers of its status', (code, details, headers) => {
    const problem = problemOf(new ServerError(code, 'No.', { details: { ...details } }), request)

    expect(problemHeaders(problem)).toEqual(headers)
  })
})
