import { isRecord } from '../../domain/is-record.ts'
import { detached } from '../../domain/session/event.ts'

interface FramedText {
  type: 'text' | 'reasoning'
  /** May be empty. */
  delta: string
}

interface Frame {
  before: string
  after: string
  type: FramedText['type']
}

const PROBE = '⚓ probe ⚓'
/** A JSON string with one of these must be parsed: a quote, a backslash, a control character. */
const SPECIAL = /["\\\p{Cc}]/u
/** Learning a frame paid off when the frame was used this often. */
const WORTH = 8
/** Learning stops after this many frames in a row that did not pay off: every chunk of such a server is different. */
const MAX_WASTED = 3

/**
 * The hundreds of chunks of a streamed answer are the same JSON around different text, and parsing them was the largest single cost
 * of a run. So the frame around the text is learned from one chunk, and chunks that fit the frame are read without parsing.
 * That is exact: text without special characters, between two quotes, cannot change the meaning of the JSON around it.
 */
export function createTextFrames() {
  let frame: Frame | null = null
  let served = 0
  let wasted = 0

  return {
    /** Null when the chunk must be parsed. */
    read(payload: string): FramedText | null {
      if (frame === null || !fits(frame, payload)) return null
      const delta = payload.slice(frame.before.length, payload.length - frame.after.length)
      if (SPECIAL.test(delta)) return null
      served += 1
      return { type: frame.type, delta: detached(delta) }
    },
    /** Learns from a chunk that was parsed and gave only this text. */
    learn(payload: string, text: string): void {
      if (wasted >= MAX_WASTED || (frame !== null && fits(frame, payload))) return
      if (served < WORTH) wasted += 1
      else wasted = 0
      served = 0
      frame = frameOf(payload, text)
    },
  }
}

/** `slice` and `===` are native code, and three times as fast as `startsWith`. */
const fits = ({ before, after }: Frame, payload: string): boolean =>
  payload.length >= before.length + after.length &&
  payload.slice(0, before.length) === before &&
  payload.slice(payload.length - after.length) === after

/** Null when the place of the text is not certain, or when the chunk has other content. */
function frameOf(payload: string, text: string): Frame | null {
  const quoted = JSON.stringify(text)
  const place = payload.indexOf(quoted)
  if (place === -1 || payload.includes(quoted, place + 1) || payload.includes(PROBE)) return null
  const before = detached(payload.slice(0, place + 1))
  const after = detached(payload.slice(place + quoted.length - 1))
  try {
    const type = plainType(JSON.parse(before + PROBE + after))
    return type === null ? null : { before, after, type }
  } catch {
    // The quotes were not the limits of a JSON string.
    return null
  }
}

/** Whether the probe is text or reasoning. Null when the chunk has any other content. */
function plainType(chunk: unknown): FramedText['type'] | null {
  if (!isRecord(chunk) || chunk.object === 'error' || !Array.isArray(chunk.choices) || chunk.choices.length !== 1)
    return null
  const choice: unknown = chunk.choices[0]
  if (!isRecord(choice) || !isRecord(choice.delta)) return null
  const silent = [chunk.error, chunk.usage, chunk.x_groq, choice.finish_reason]
  if (!silent.every(isAbsent)) return null
  const { content, role: _, reasoning_content, reasoning, ...others } = choice.delta
  if (!Object.values(others).every(isAbsent)) return null
  if (content === PROBE) return isAbsent(reasoning_content) && isAbsent(reasoning) ? 'text' : null
  const thoughts = [reasoning_content, reasoning].filter((thought) => !isAbsent(thought))
  return (isAbsent(content) || content === '') && thoughts.length === 1 && thoughts[0] === PROBE ? 'reasoning' : null
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null
