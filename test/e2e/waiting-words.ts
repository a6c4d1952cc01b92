// What each door says when a person must decide, with `ID` in place of the approval's id.

import type { StreamingDoor, WaitingDoor } from './doors.ts'

/** How each stream ends that waits. AG-UI has an event for it. For the others, the last event has more than its name. */
const ends: Record<string, [string, RegExp]> = {
  'POST /agent/{name}/chat/stream': ['success', /"status":"waiting","run_id":"[^"]+","approval_ids":\["ID"\]/],
  'POST /chat in a thread': ['success', /"status":"waiting","run_id":"[^"]+","approval_ids":\["ID"\]/],
  'POST /v1/chat/completions': ['[DONE]', /^\[DONE\]$/],
  'POST /ai/chat': ['[DONE]', /^\[DONE\]$/],
  'POST /v1/responses': ['error approval_pending', /approval ID/],
}
const agUiEnd: [string, RegExp] = ['interrupt', /"interrupts":\[\{"id":"ID"/]

/** The end, and what is in the last event. */
export const waitingEnd = ({ name }: StreamingDoor): [end: string, words: RegExp] => ends[name] ?? agUiEnd

/** What is sent instead of an answer. */
const waits: Record<string, [number, RegExp]> = {
  'POST /v1/chat/completions, whole': [400, /"code":"approval_pending"/],
  'POST /v1/responses, whole': [400, /"code":"approval_pending"/],
}
const accepted: [number, RegExp] = [202, /^\{"status":"waiting","run_id":"[^"]+","approval_ids":\["ID"\]\}$/]

export const waitingAnswer = ({ name }: WaitingDoor): [status: number, words: RegExp] => waits[name] ?? accepted
