// What of the history the model is shown: the newest that fits, whole exchanges only.

import type { ModelAttachment, ModelMessage } from '../models/model.ts'

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

/**
 * Drops the oldest first. A tool call and its results stay together, whatever the limits say, and so does the newest
 * exchange: a model that is shown nothing cannot answer, and its own error for an overflow is clearer than ours.
 */
export function selectWindow(messages: readonly ModelMessage[], limits: WindowLimits): ModelMessage[] {
  const units = intoUnits(messages)
  const chosen: ModelMessage[][] = []
  let count = 0
  let tokens = 0
  for (const unit of units.toReversed()) {
    const size = unit.reduce((sum, message) => sum + messageTokens(message), 0) * limits.correction
    const fits = count + unit.length <= limits.maxMessages && tokens + size <= limits.budget
    if (!fits && chosen.length > 0) break
    chosen.push(unit)
    count += unit.length
    tokens += size
  }
  return chosen.reverse().flat()
}

/** A message alone, or an assistant's calls with their results. Results without their call are of no use and left out. */
function intoUnits(messages: readonly ModelMessage[]): ModelMessage[][] {
  const units: ModelMessage[][] = []
  let calls = new Set<string>()
  for (const message of messages) {
    if (message.role === 'tool') {
      if (calls.delete(message.toolCallId)) units.at(-1)?.push(message)
      continue
    }
    calls = new Set(message.role === 'assistant' ? message.toolCalls.map((call) => call.id) : [])
    units.push([message])
  }
  return units
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
