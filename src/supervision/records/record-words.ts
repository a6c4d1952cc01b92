// Small words that all descriptions of records share.

import { isoTime } from '../../domain/clock.ts'
import { isRecord } from '../../domain/is-record.ts'
import type { BodyPart, RecordFact } from './record-view.ts'

/** `5 min 3 s`. */
export function duration(seconds: number): string {
  const whole = Math.max(Math.round(seconds), 0)
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60]
  if (hours > 0) return minutes === 0 ? `${hours} h` : `${hours} h ${minutes} min`
  if (minutes === 0) return `${whole} s`
  return whole % 60 === 0 ? `${minutes} min` : `${minutes} min ${whole % 60} s`
}

/** `2 h ago`. */
export function ago(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 1) return 'just now'
  if (minutes < 60) return `${minutes} min ago`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} days ago`
}

/** `1,200`. By hand, because the first use of `toLocaleString` takes 25 ms, and a start describes samples of all kinds. */
export const grouped = (count: number): string => String(Math.round(count)).replaceAll(/\B(?=(\d{3})+$)/g, ',')

const MOST_LINE = 200

/** The beginning of a text on one line. */
export function oneLine(text: string): string {
  const line = text
    .slice(0, 2 * MOST_LINE)
    .trim()
    .replaceAll(/\s+/g, ' ')
  const isWhole = line.length <= MOST_LINE && text.length <= 2 * MOST_LINE
  return isWhole ? line : `${line.slice(0, MOST_LINE).toWellFormed()}…`
}

/** The arguments of a call. */
export function objectIn(json: string): Record<string, unknown> {
  const value: unknown = JSON.parse(json)
  return isRecord(value) ? { ...value } : {}
}

export const fact = (name: string, text: string, more: { at?: number | null; minor?: true } = {}): RecordFact => ({
  name,
  text,
  at: timeOf(more.at ?? null),
  minor: more.minor ?? false,
})

export const timeOf = (ms: number | null): string | null => (ms === null ? null : isoTime(ms))

export const times = (count: number): string => (count === 1 ? 'once' : `${count} times`)

/** Nothing if there are no words. */
export const prose = (
  title: string,
  by: 'agent' | 'tool' | 'person' | 'server',
  text: string | null | undefined,
): BodyPart[] => (text === null || text === undefined || text === '' ? [] : [{ type: 'prose', title, by, text }])

export const agentsWords = (text: string): BodyPart[] => prose('In the agent’s words', 'agent', text)
