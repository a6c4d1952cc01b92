/** What CopilotKit's client is told about a stop request. */
export type StopAnswer =
  | { stopped: true; interrupt: { type: 'RUN_ERROR'; message: string; code: string } }
  | { stopped: false; message: string }

export const stopped: StopAnswer = {
  stopped: true,
  interrupt: { type: 'RUN_ERROR', message: 'Run stopped by user', code: 'STOPPED' },
}

export const notStopped = (threadId: string, runId: string | null): StopAnswer => ({
  stopped: false,
  message:
    runId === null
      ? `No active run for thread '${threadId}'.`
      : `Run '${runId}' is not the active run for thread '${threadId}'.`,
})
