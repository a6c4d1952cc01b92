import type { FunctionToolSettings } from '../../../domain/agent/tool-settings.ts'
import { createSystemClock } from '../../../domain/clock.ts'
import { type Logger, silentLogger } from '../../../domain/logger.ts'
import { noNumbers, type ToolCallRequest } from '../../tool.ts'
import { createStrayErrors } from '../stray-errors.ts'

export function functionSettings(
  settings: Pick<FunctionToolSettings, 'file'> & Partial<FunctionToolSettings>,
): FunctionToolSettings {
  return {
    type: 'function',
    name: 'look_up',
    description: 'Looks something up.',
    parameters: null,
    returns: null,
    export: 'look_up',
    effect: 'read',
    risk: 'low',
    timeoutMs: 30_000,
    retries: 0,
    approval: null,
    predictState: [],
    ...settings,
  }
}

/** Its limit for loading a file never ends: a busy machine may need longer. */
export const deps = {
  clock: { ...createSystemClock(), after: () => () => {} },
  strays: createStrayErrors(),
  reload: null,
}

/** A call that records what the tool says. */
export function callOf(args: Record<string, unknown>): ToolCallRequest & { heard: unknown[] } {
  const heard: unknown[] = []
  let state: unknown = { seen: ['a'] }
  const log: Logger = {
    ...silentLogger,
    error: (message, fields) => void heard.push(['error', message, fields]),
    with: () => log,
  }
  return {
    callId: 'call-1',
    arguments: args,
    sessionId: 'session-1',
    runId: 'run-1',
    owner: 'ada',
    agent: 'assistant',
    forwardedProps: { theme: 'dark' },
    resultChars: 50_000,
    answers: [],
    numbers: noNumbers,
    hold: () => Promise.reject(new Error('nobody answers here')),
    heard,
    voice: {
      log,
      state: () => state,
      setState(next) {
        heard.push(['state', state, next])
        state = next
      },
      emit: (...all) => void heard.push(['emit', ...all]),
      activity: (...all) => void heard.push(['activity', ...all]),
      progress: (...all) => void heard.push(['progress', ...all]),
    },
  }
}
