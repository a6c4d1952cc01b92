// Checks that a stream is the complete stream of one run. Pure: events in, a verdict out.

import { eachToken } from './token.ts'

export interface StreamEvent {
  type: string
  delta?: string
  code?: string
  message?: string
}

export interface StreamCheck {
  event(event: StreamEvent): void
  /** Call it after the last byte. The first thing that was wrong with the stream, or null. */
  end(): string | null
  readonly tokens: number
  /** Fewer than `tokens` when the server merges deltas. */
  readonly contentEvents: number
}

/** `onToken` gets the time when the model wrote the token, if the token carries one. */
export function createStreamCheck(
  expectedTokens: number,
  onToken: (sentAt: number) => void,
  onFirst: () => void = () => {},
): StreamCheck {
  let problem: string | null = null
  let events = 0
  let tokens = 0
  let contentEvents = 0
  let terminal: string | null = null

  const wrong = (text: string): void => {
    problem ??= text
  }
  const take = (index: number, sentAt: number): void => {
    if (index !== tokens) wrong('a token is missing, doubled or out of order')
    tokens += 1
    if (sentAt > 0) onToken(sentAt)
  }

  return {
    event(event) {
      events += 1
      if (events === 1) onFirst()
      if (terminal !== null) wrong(`${event.type} after ${terminal}`)
      if (events === 1 && event.type !== 'RUN_STARTED') wrong(`the first event is ${event.type}`)
      if (events > 1 && event.type === 'RUN_STARTED') wrong('a second RUN_STARTED')
      if (event.type === 'TEXT_MESSAGE_CONTENT') {
        contentEvents += 1
        if (!eachToken(event.delta ?? '', take)) wrong('a delta that is not made of whole tokens')
      } else if (event.type === 'RUN_FINISHED') {
        terminal = event.type
      } else if (event.type === 'RUN_ERROR') {
        terminal = event.type
        wrong(`RUN_ERROR ${event.code ?? event.message ?? ''}`)
      }
    },
    end() {
      if (terminal === null) wrong('no terminal event')
      if (tokens !== expectedTokens) wrong(`${tokens} of ${expectedTokens} tokens`)
      return problem
    },
    get tokens() {
      return tokens
    },
    get contentEvents() {
      return contentEvents
    },
  }
}
