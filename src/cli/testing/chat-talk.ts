import type { OpenPrompt } from '../commands/chat/ask-approvals.ts'
import type { PendingApproval } from '../commands/chat/chat-event.ts'
import type { Asked, Prompt } from '../terminal/terminal-prompt.ts'

/** A person who gives these answers, one to each question, and then leaves. */
export function scriptedPrompt(...script: (string | Asked)[]): Prompt {
  const queue = script.map((entry): Asked => (typeof entry === 'string' ? { type: 'line', line: entry } : entry))
  return { ask: async () => queue.shift() ?? { type: 'end' } }
}

/** The same for code that opens a prompt for each question. Records the questions and the drafts. */
export function scriptedPrompts(...script: (string | Asked)[]): { open: OpenPrompt; asked: string[][] } {
  const prompt = scriptedPrompt(...script)
  const asked: string[][] = []
  return {
    asked,
    open(label, draft) {
      asked.push(draft === undefined ? [label] : [label, draft])
      return prompt
    },
  }
}

export const pendingApproval = (id: string, more: Partial<PendingApproval> = {}): PendingApproval => ({
  id,
  callId: `call-${id}`,
  tool: 'send',
  arguments: { to: 'bob' },
  risk: 'high',
  answerableBy: 'operator',
  message: 'Call send',
  digest: `seen-${id}`,
  answerSchema: null,
  ...more,
})
