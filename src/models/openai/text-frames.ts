import { detached } from '../../domain/detached.ts'
import { isObject } from '../wire/json.ts'

/**
 * The chunks of a streamed answer are hundreds of times the same JSON around a few other letters, and parsing them was the largest
 * single cost of a run. So the frame around the letters is learned from one chunk, and what fits into it is read without parsing.
 * That is exact: between two quotes, text without specials cannot change what the JSON around it means.
 */
interface TextFrames {
  /** Null: the chunk has to be parsed. */
  read(payload: string): FramedText | null
  /** Of a chunk that was parsed and gave just this. */
  learn(payload: string, text: string): void
}

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
/** What a JSON string has to be looked into for: a quote, a backslash, what is not allowed in it. */
const SPECIAL = /["\\\p{Cc}]/u
/** A frame that has served this often was worth its learning. */
const WORTH = 8
/** Servers whose chunks all differ in more than the text are left alone soon. */
const MAX_WASTED = 3

export function createTextFrames(): TextFrames {
  let frame: Frame | null = null
  let served = 0
  let wasted = 0

  return {
    read(payload) {
      if (frame === null || !fits(frame, payload)) return null
      const delta = payload.slice(frame.before.length, payload.length - frame.after.length)
      if (SPECIAL.test(delta)) return null
      served += 1
      return { type: frame.type, delta: detached(delta) }
    },
    learn(payload, text) {
      if (wasted >= MAX_WASTED || (frame !== null && fits(frame, payload))) return
      if (served < WORTH) wasted += 1
      else wasted = 0
      served = 0
      frame = frameOf(payload, text)
    },
  }
}

/** Cut and compared: that is native all the way, and three times as fast as `startsWith`. */
const fits = ({ before, after }: Frame, payload: string): boolean =>
  payload.length >= before.length + after.length &&
  payload.slice(0, before.length) === before &&
  payload.slice(payload.length - after.length) === after

/** Null when it is not certain where the text stands, or when the chunk says anything else. */
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
    // The quotes were none around a text.
    return null
  }
}

/** What the probe is in a chunk in which all else is silent; null for any other chunk. */
function plainType(chunk: unknown): FramedText['type'] | null {
  if (!isObject(chunk) || chunk.object === 'error' || !Array.isArray(chunk.choices) || chunk.choices.length !== 1)
    return null
  const choice: unknown = chunk.choices[0]
  if (!isObject(choice) || !isObject(choice.delta)) return null
  const silent = [chunk.error, chunk.usage, chunk.x_groq, choice.finish_reason]
  if (!silent.every(isAbsent)) return null
  const { content, role: _, reasoning_content, reasoning, ...others } = choice.delta
  if (!Object.values(others).every(isAbsent)) return null
  if (content === PROBE) return isAbsent(reasoning_content) && isAbsent(reasoning) ? 'text' : null
  const thoughts = [reasoning_content, reasoning].filter((thought) => !isAbsent(thought))
  return (isAbsent(content) || content === '') && thoughts.length === 1 && thoughts[0] === PROBE ? 'reasoning' : null
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null
