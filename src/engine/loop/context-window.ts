// Chooses the part of the history that the model sees: the newest exchanges that fit, each as a whole.

import type { ModelAttachment, ModelMessage } from '../../models/model.ts'

export interface WindowLimits {
  maxMessages: number
  /** Tokens left for messages after instructions, tools and the answer have their share. */
  budget: number
  /** Reported tokens per estimated token. */
  correction: number
}

/** Four characters a token, the usual rule of thumb. `correction` adjusts it to the model. */
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

/** How much of what fits these messages take. One of them is more than 1: they do not fit. */
export function fillOf(
  messages: readonly ModelMessage[],
  { maxMessages, budget, correction }: WindowLimits,
): { count: number; tokens: number } {
  const tokens = messages.reduce((sum, message) => sum + messageTokens(message), 0) * correction
  return { count: messages.length / maxMessages, tokens: budget <= 0 ? Number.POSITIVE_INFINITY : tokens / budget }
}

/** The last steps may still be at work with their results. */
const WHOLE_RESULTS = 3
const SHORT_RESULT = 600

/** The results of tools without their middle, but for those of the last steps. */
export function withShortResults(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const steps = messages.flatMap(({ role }, i) => (role === 'assistant' ? [i] : []))
  const whole = steps.at(-WHOLE_RESULTS) ?? 0
  return messages.map((message, i) =>
    message.role === 'tool' && i < whole ? { ...message, content: shortened(message.content, SHORT_RESULT) } : message,
  )
}

/** The beginning and the end of a text, and how much is missing between them. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text
  const end = Math.floor(most / 4)
  const missing = text.length - most
  return `${text.slice(0, most - end)} [… ${missing} characters …] ${text.slice(text.length - end)}`.toWellFormed()
}

/** A user's message and everything up to the next one. */
interface Exchange {
  question: ModelMessage
  /** Each with the results of its calls. */
  answers: ModelMessage[][]
}

/**
 * The result begins with a user's message, whatever the limits are, because providers refuse anything else. Exchanges are dropped
 * as a whole, the oldest first, and a few more than necessary. If the newest does not fit, its oldest answers are left out with
 * their calls and results, and the model is told how many. The last answer stays: if it does not fit, the provider's own error is
 * clearer than ours.
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
    if (!fits(whole)) return fromSteadyPlace(chosen.reverse(), limits).flat()
    chosen.push(whole)
  }
  return chosen.reverse().flat()
}

/** How much less than fits may be shown, so that the beginning stays the same for many runs. */
const GIVEN_UP = 1 / 4

/**
 * If the window moved with each new exchange, no two requests would begin alike, and a provider's cache would be of no use. So of the
 * places where it may begin, it begins at the one with the smallest hash: that stays until the window has moved past it.
 */
function fromSteadyPlace(exchanges: readonly ModelMessage[][], limits: WindowLimits): readonly ModelMessage[][] {
  let [messages, tokens] = [limits.maxMessages * GIVEN_UP, limits.budget * GIVEN_UP]
  let best = { place: 0, hash: Number.POSITIVE_INFINITY }
  for (const [place, exchange] of exchanges.slice(0, -1).entries()) {
    const hash = hashOf(exchange[0]?.content ?? '')
    if (hash < best.hash) best = { place, hash }
    messages -= exchange.length
    tokens -= exchange.reduce((sum, message) => sum + messageTokens(message), 0) * limits.correction
    if (messages < 0 || tokens < 0) break
  }
  return exchanges.slice(best.place)
}

/** Hashes the beginning. Similar texts get very different hashes. */
function hashOf(text: string): number {
  let hash = 0
  for (let i = 0; i < Math.min(text.length, 256); i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x85ebca6b)
    hash ^= hash >>> 13
  }
  return hash >>> 0
}

/** The note is part of the user's message, because providers accept no other kind of message at this place. */
function withNote(question: ModelMessage, leftOut: number): ModelMessage {
  const steps = leftOut === 1 ? '1 earlier step was' : `${leftOut} earlier steps were`
  const note = `[Note from the server: ${steps} left out here, with calls and results, because the conversation is too long.]`
  return { ...question, content: question.content === '' ? note : `${question.content}\n\n${note}` }
}

/**
 * Messages before the first user's message are left out, and so are results without their call. A conversation without any
 * user's message, which a client can send, gets one.
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

/** Learns from reported usage how far off the estimate is for one model. Bounded, so that one odd report cannot empty the window. */
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
