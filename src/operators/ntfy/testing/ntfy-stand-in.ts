// An ntfy server on this machine, as far as our channel uses one: it takes JSON at its root, and checks what a real one checks.

import { onTestFinished } from 'vitest'
import { answerJson, openService } from '../../../tools/http/testing/open-service.ts'
import { type Behaviour, misbehave } from '../../testing/misbehave.ts'

interface NtfyMessage {
  topic: string
  title: string
  message: string
  priority: number
  tags: string[]
  click?: string
  actions?: { action: string; label: string; url: string }[]
  sequence_id?: string
}

interface NtfyStandIn {
  url: URL
  /** What a phone that listens to the topic shows, oldest first. */
  phone(topic: string): NtfyMessage[]
  /** All messages that were taken, also those that were replaced. */
  readonly taken: NtfyMessage[]
  /** How the next requests end; those after them work. */
  behave(...next: Behaviour[]): void
}

/** `knowsSequences`: it can replace messages, as servers since 2.16 can. `token`: it refuses requests without it. */
export async function openNtfy({ knowsSequences = true, token = '' } = {}): Promise<NtfyStandIn> {
  const taken: NtfyMessage[] = []
  const shown = new Map<string, NtfyMessage>()
  const behaviours: Behaviour[] = []
  const service = await openService((response, request) => {
    if (misbehave(behaviours.shift() ?? 'works', response)) return
    if (token !== '' && request.headers.authorization !== `Bearer ${token}`) {
      return answerJson(response, { code: 40301, http: 403, error: 'forbidden' }, 403)
    }
    const message: NtfyMessage = JSON.parse(service.requests.at(-1)?.body ?? '')
    const problem = request.method === 'POST' && request.url === '/' ? problemOf(message) : 'not the root'
    if (problem !== null) return answerJson(response, { code: 40000, http: 400, error: problem }, 400)
    taken.push(message)
    const id = `message${taken.length}`
    const { sequence_id = id, ...known } = message
    const sequence = knowsSequences ? sequence_id : id
    shown.delete(sequence)
    shown.set(sequence, message)
    answerJson(response, { ...known, id, event: 'message', ...(knowsSequences ? { sequence_id } : {}) })
  })
  onTestFinished(service.close)
  return {
    url: new URL(service.url),
    phone: (topic) => [...shown.values()].filter((one) => one.topic === topic),
    taken,
    behave: (...next) => void behaviours.push(...next),
  }
}

const NAME = /^[-_A-Za-z0-9]{1,64}$/

function problemOf({
  topic,
  message,
  priority,
  actions = [],
  click,
  sequence_id = 'none',
}: NtfyMessage): string | null {
  if (!NAME.test(topic)) return 'invalid topic'
  if (message === '' || Buffer.byteLength(message) > 4_096) return 'the message would become an attachment'
  if (![1, 2, 3, 4, 5].includes(priority)) return 'invalid priority'
  if (actions.length > 3 || actions.some(({ action, url }) => action !== 'view' || URL.parse(url) === null)) {
    return 'invalid actions'
  }
  if (!NAME.test(sequence_id)) return 'invalid sequence'
  return click !== undefined && URL.parse(click) === null ? 'invalid click' : null
}
