// Calls between two threads. Each side offers methods, and calls those of the other. What goes over is plain data.

import type { MessagePort, Worker } from 'node:worker_threads'
import { type ErrorCode, ServerError } from '../../domain/errors.ts'

type Message =
  | { type: 'call'; id: number; method: string; args: unknown[] }
  | { type: 'done'; id: number; value: unknown }
  | { type: 'failed'; id: number; failure: Failure }

/** `code` is null for anything but a `ServerError`. */
interface Failure {
  code: ErrorCode | null
  message: string
  stack: string
}

/** All methods are asynchronous, or return nothing. */
type Offered = Record<string, (...args: never[]) => unknown>

export interface Calls {
  call(method: string, args: readonly unknown[]): Promise<unknown>
  /** Fails all calls that have no answer yet. */
  lost(error: Error): void
}

export function connectCalls(port: Pick<MessagePort | Worker, 'on' | 'postMessage'>, offered: Offered): Calls {
  const open = new Map<number, PromiseWithResolvers<unknown>>()
  let lastId = 0

  async function answer({ id, method, args }: Extract<Message, { type: 'call' }>): Promise<void> {
    const send = (message: Message) => port.postMessage(message)
    try {
      const value = await offered[method]?.(...(args as never[]))
      send({ type: 'done', id, value })
    } catch (error) {
      send({ type: 'failed', id, failure: failureOf(error) })
    }
  }

  port.on('message', (message: Message) => {
    if (message.type === 'call') return void answer(message)
    const waiting = open.get(message.id)
    open.delete(message.id)
    if (message.type === 'done') waiting?.resolve(message.value)
    else waiting?.reject(errorOf(message.failure))
  })

  return {
    call(method, args) {
      lastId += 1
      const waiting = Promise.withResolvers<unknown>()
      open.set(lastId, waiting)
      port.postMessage({ type: 'call', id: lastId, method, args: [...args] } satisfies Message)
      return waiting.promise
    },
    lost(error) {
      for (const waiting of open.values()) waiting.reject(error)
      open.clear()
    },
  }
}

function failureOf(error: unknown): Failure {
  const { message, stack = '' } = error instanceof Error ? error : new Error(String(error))
  return { code: error instanceof ServerError ? error.code : null, message, stack }
}

const errorOf = ({ code, message, stack }: Failure): Error =>
  Object.assign(code === null ? new Error(message) : new ServerError(code, message), { stack })
