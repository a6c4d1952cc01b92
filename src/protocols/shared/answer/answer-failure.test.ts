import { describe, expect, test } from 'vitest'
import { failureOf, problemShapeWith, runFailure, streamProblem } from './answer-failure.ts'

describe('the failure of a run', () => {
  test('is none when the run completed or waits', () => {
    expect(failureOf({ outcome: 'completed', error: null })).toBeNull()
    expect(failureOf({ outcome: 'waiting', error: null })).toBeNull()
  })

  test('has the code and the words of the run', () => {
    expect(failureOf({ outcome: 'failed', error: { code: 'model_timeout', message: 'Late.' } })).toMatchObject({
      code: 'model_timeout',
      message: 'Late.',
    })
    expect(failureOf({ outcome: 'cancelled', error: null })).toMatchObject({ code: 'cancelled' })
  })

  test('has no code that is not ours', () => {
    expect(runFailure({ code: 'strange', message: 'Why.' })).toMatchObject({ code: 'internal_error', message: 'Why.' })
  })
})

describe("a door's own statuses", () => {
  const overrides = { model_unreachable: 502 }
  const request = { path: '/x', correlationId: 'c' }
  const unreachable = runFailure({ code: 'model_unreachable', message: 'Nobody is there.' })
  const problem = {
    type: 'https://quarterdeck.dev/errors/model_unreachable',
    title: 'Model unreachable',
    status: 502,
    detail: 'Nobody is there.',
    instance: '/x',
    code: 'model_unreachable',
    correlation_id: 'c',
  }

  test('replace those of the codes they name', () => {
    expect(streamProblem(unreachable, request, overrides)).toEqual(problem)
    expect(problemShapeWith(overrides)({ ...problem, status: 503 })).toEqual({
      status: 502,
      contentType: 'application/problem+json',
      body: problem,
    })
  })

  test('leave the others as they are', () => {
    expect(streamProblem(unreachable, request)).toEqual({ ...problem, status: 503 })
  })
})
