// The test cases of a running server's agents, run on demand: beside the server, never in it.

import type { AgentDefinition } from '../domain/agent/agent.ts'
import type { Clock } from '../domain/clock.ts'
import { ServerError } from '../domain/errors.ts'
import type { CaseResult } from './case-result.ts'
import type { CaseDeps } from './run-case.ts'
import { runCases } from './run-cases.ts'
import type { TestHistory } from './test-history.ts'

export interface TestRun {
  /** Names of the cases, in order. */
  names: string[]
  /** Runs them. `on` is called with each case when it begins and when it has its result. Resolves when everything is closed again. */
  run(on: (event: CaseEvent) => void): Promise<{ results: CaseResult[]; durationMs: number }>
}

export type CaseEvent = { name: string; result: CaseResult | null }

export interface TestRuns {
  /**
   * Opens the agents for the cases of one of them; `only` names some of its cases. The signal stops them. Throws `conflict` while tests
   * of this agent run, `invalid_request` for cases that it does not have, and `config_invalid` if they cannot run. What was opened is
   * closed by `run`, so call it.
   */
  begin(agent: AgentDefinition, only: readonly string[] | null, signal: AbortSignal): Promise<TestRun>
  isRunning(agent: string): boolean
  /** What became of its cases before. */
  history: TestHistory['of']
  /** Stops everything. */
  close(): void
}

interface RunsDeps {
  /** Opens the agents beside the server. */
  open(): Promise<CaseDeps & AsyncDisposable>
  history(): Promise<TestHistory>
  clock: Pick<Clock, 'mono'>
}

const PARALLEL = 4

export function createTestRuns({ open, history, clock }: RunsDeps): TestRuns {
  const running = new Set<string>()
  const closing = new AbortController()

  return {
    async begin(agent, only, signal) {
      const { name } = agent
      const cases = agent.testCases.filter((one) => only === null || only.includes(one.name))
      if (cases.length === 0) {
        throw new ServerError(
          'invalid_request',
          agent.testCases.length === 0
            ? `The agent ${name} has no test cases. Add some under test_cases in its file.`
            : `The agent ${name} has none of these test cases. GET /agents/${name}/tests lists them.`,
        )
      }
      if (running.has(name)) throw new ServerError('conflict', `Tests of ${name} are running. Wait until they end.`)
      running.add(name)
      try {
        const target = await open()
        return {
          names: cases.map((one) => one.name),
          async run(on) {
            await using _free = { [Symbol.asyncDispose]: async () => void running.delete(name) }
            await using _closed = target
            const began = clock.mono()
            const results = await runCases(
              cases.map((testCase) => ({ agent: name, testCase })),
              target,
              {
                parallel: PARALLEL,
                stop: AbortSignal.any([signal, closing.signal]),
                onBegin: ({ testCase }) => on({ name: testCase.name, result: null }),
                onResult: (result) => on({ name: result.name, result }),
              },
            )
            await (await history()).add(
              name,
              agent.testCases.map((one) => one.name),
              results,
            )
            return { results, durationMs: Math.round(clock.mono() - began) }
          },
        }
      } catch (error) {
        running.delete(name)
        throw error
      }
    },
    isRunning: (agent) => running.has(agent),
    history: async (agent) => (await history()).of(agent),
    close: () => closing.abort(),
  }
}
