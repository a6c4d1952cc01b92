// What of the history the model is shown: the newest exchanges that fit, each whole.

import type { ModelAttachment, ModelMessage } from '../../models/model.ts'

export interface WindowLimits {
  maxMessages: number
  /** Tokens left for messages once instructions, tools and the answer have their share. */
  budget: number
  /** Tokens per estimated token, learned from what the model reported. */
  correction: number
}

/** Characters / 4, the usual rule of thumb; `correction` mends it per model. */
export const estimateTokens = (characters: number): number => Math.ceil(characters / 4)

export function messageTokens(message: ModelMessage): number {
  let characters = message.content.length + 16
  if (message.role === 'assistant') {
    for (const call of message.toolCalls) characters += call.name.length + call.arguments.length + 16
    characters += message.reasoning?.text.length ?? 0
  }
  return estimateTokens(characters) + (message.role === 'user' ? attachedTokens(message.attachments) : 0)
}

const attachedTokens = (attachments: readonly ModelAttachment[] = []): number =>
  attachments.reduce((sum, { tokens }) => sum + tokens, 0)

/** What one user turn began: everything up to the next one. */
interface Exchange {
  question: ModelMessage
  /** The answers, each with the results of its calls. */
  answers: ModelMessage[][]
}

/**
 * Begins with a user turn, whatever the limits say: providers refuse anything else. Whole exchanges are dropped, the oldest first.
 * The newest always stays: where it does not fit, its oldest answers go, each with its calls and their results, and the
 * model is told how many. The last one stays: its own error for an overflow is clearer than ours.
 */
export function selectWindow(messages: readonly ModelMessage[], limits: WindowLimits): ModelMessage[] {
  const exchanges = intoExchanges(messages)
  const newest = exchanges.pop()
  if (newest === undefined) return []
  let count = 0
  let tokens = 0
  function fits(more: readonly ModelMessage[]): boolean {
    count += more.length
    tokens += more.reduce((sum, message) => sum + messageTokens(message), 0) * limits.correction
    return count <= limits.maxMessages && tokens <= limits.budget
  }

  fits([newest.question])
  const kept: ModelMessage[][] = []
  for (const answer of newest.answers.toReversed()) {
    if (!fits(answer) && kept.length > 0) break
    kept.push(answer)
  }
  const leftOut = newest.answers.length - kept.length
  if (leftOut > 0) return [withNote(newest.question, leftOut), ...kept.reverse().flat()]

  const chosen = [[newest.question, ...kept.reverse().flat()]]
  for (const { question, answers } of exchanges.reverse()) {
    const whole = [question, ...answers.flat()]
    if (!fits(whole)) break
    chosen.push(whole)
  }
  return chosen.reverse().flat()
}

/** In the user's turn, where something is missing behind it: no provider takes a message of another kind there. */
function withNote(question: ModelMessage, leftOut: number): ModelMessage {
  const steps = leftOut === 1 ? '1 earlier step was' : `${leftOut} earlier steps were`
  const note = `[Note from the server: ${steps} left out here, with calls and results, because the conversation is too long.]`
  return { ...question, content: question.content === '' ? note : `${question.content}\n\n${note}` }
}

/**
 * What stands before the first user turn is left out, and so are results without their call. A conversation without any user turn,
 * as a client may send it, gets one.
 */
function intoExchanges(messages: readonly ModelMessage[]): Exchange[] {
  const exchanges: Exchange[] = []
  const hasQuestion = messages.some(({ role }) => role === 'user')
  if (!hasQuestion && messages.length > 0) {
    exchanges.push({ question: { role: 'user', content: '[The conversation begins here.]' }, answers: [] })
  }
  let calls = new Set<string>()
  for (const message of messages) {
    const answers = exchanges.at(-1)?.answers
    if (message.role === 'user') {
      exchanges.push({ question: message, answers: [] })
      calls = new Set()
    } else if (message.role === 'assistant') {
      answers?.push([message])
      calls = new Set(message.toolCalls.map((call) => call.id))
    } else if (calls.delete(message.toolCallId)) {
      answers?.at(-1)?.push(message)
    }
  }
  return exchanges
}

/** Learns how far off the estimate is for one model, from the usage it reports. Bounded, so that one odd report cannot empty the window. */
export function createTokenCorrection(): { readonly value: number; learn(estimated: number, reported: number): void } {
  let value = 1
  return {
    get value() {
      return value
    },
    learn(estimated, reported) {
      if (estimated < 50 || reported <= 0) return
      const seen = Math.min(4, Math.max(0.25, reported / estimated))
      value = value * 0.7 + seen * 0.3
    },
  }
}
