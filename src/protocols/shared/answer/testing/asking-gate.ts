import { testTool } from '../../../../engine/testing/open-engine.ts'
import type { CallRules } from '../../../../supervision/approvals/call-rules.ts'

/** A person is asked about every call of a tool whose risk is not low. */
const askingRules: CallRules = {
  judge: async (call) =>
    call.tool.risk === 'low'
      ? { verdict: 'run', grant: null }
      : { verdict: 'ask', ...(await askingRules.question(call)) },
  question: async ({ tool, now }) => ({
    policyVersion: 'v1',
    risk: tool.risk,
    answerableBy: 'operator',
    expiresAt: now + 3_600_000,
    title: `Call ${tool.name}`,
    description: '',
    action: null,
  }),
  preview: async () => null,
}

/** A tool that needs approval. */
export const risky = testTool({
  name: 'send',
  risk: 'high',
  effect: 'once',
  call: async () => ({ content: 'Sent.', isError: false }),
})

/** An agent that calls this tool after every message but "Well?". */
export const riskyWork = {
  rules: askingRules,
  tools: [risky],
  answers: [
    { when: { tool: 'send' }, parts: [{ text: 'Done.' }] },
    { when: { user: 'Well?' }, parts: [{ text: 'Well.' }] },
    { parts: [{ text: 'May I?' }, { tool_call: { name: 'send', arguments: {} } }] },
  ],
}

/** A tool that asks a person which size they want. */
const order = testTool({
  name: 'order',
  effect: 'once',
  async call({ answers: [given] }) {
    const question = { message: 'Which size?', schema: { type: 'string' } }
    if (given === undefined) return { content: '', isError: false, question }
    return { content: JSON.stringify(given.answer), isError: false }
  },
})

/** An agent that calls this tool after every message but "Well?". */
export const askingWork = {
  rules: askingRules,
  tools: [order],
  answers: [
    { when: { tool: 'order' }, parts: [{ text: 'Done.' }] },
    { when: { user: 'Well?' }, parts: [{ text: 'Well.' }] },
    { parts: [{ text: 'Wait.' }, { tool_call: { name: 'order', arguments: {} } }] },
  ],
}

export const operator = { user: 'ada', role: 'operator' as const }
