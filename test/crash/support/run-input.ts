/** An AG-UI input of a 1.0 client with one message. */
export function runInput(threadId: string, runId: string, text: string, messageId = `${runId}-message`) {
  return {
    threadId,
    runId,
    protocolVersion: '1.0',
    messages: [{ id: messageId, role: 'user', content: text }],
    tools: [],
    context: [],
    state: {},
    forwardedProps: {},
  }
}

/** An input that asks for the history of a thread and starts no run. */
export const hydration = (threadId: string) => ({ ...runInput(threadId, 'hydration', ''), messages: [] })
