import { expect, test } from 'vitest'
import { type LogLine, recordingLogger } from '../../domain/testing/recording-logger.ts'
import { createLeftRuns } from './left-runs.ts'

function open(isOnlyProcess = false, heldElsewhere = '') {
  const lines: LogLine[] = []
  let now = 0
  const isLeft = createLeftRuns({
    agents: new Map([['ours', null]]),
    hostWork: { isHeldElsewhere: (sessionId) => sessionId === heldElsewhere },
    clock: { mono: () => now },
    logger: recordingLogger(lines),
    isOnlyProcess,
  })
  function pass(minutes: number): void {
    now += minutes * 60_000
  }
  return { isLeft, lines, pass }
}

const run = (id: string, agent = 'theirs', cancelRequested = false) => ({
  id,
  sessionId: `session of ${id}`,
  agent,
  cancelRequested,
})

test('a run of an agent that is not here is left to others for ten minutes, with one line in the log', () => {
  const { isLeft, lines, pass } = open()

  expect([isLeft(run('1', 'ours')), isLeft(run('2'))]).toEqual([false, true])
  pass(9)
  expect([isLeft(run('2')), isLeft(run('3'))]).toEqual([true, true])
  pass(2)
  expect([isLeft(run('2')), isLeft(run('3'))]).toEqual([false, true])
  expect(lines.map(({ fields }) => fields)).toEqual([{ agent: 'theirs', run_id: '2' }])
})

test('a run that somebody has cancelled can be ended by everybody', () => {
  expect(open().isLeft(run('1', 'theirs', true))).toBe(false)
})

test('a run is left to the process that holds the program of its session', () => {
  const { isLeft } = open(false, 'session of 1')

  expect([isLeft(run('1', 'ours')), isLeft(run('2', 'ours'))]).toEqual([true, false])
})

test('a process that is alone leaves nothing to others', () => {
  expect(open(true).isLeft(run('1'))).toBe(false)
})
