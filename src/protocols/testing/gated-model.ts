import type { Model, ModelPart, ModelRequest } from '../../models/model.ts'

/** A model whose answers and timing the test controls. */
export interface GatedModel extends Model {
  readonly requests: ModelRequest[]
  say(...parts: ModelPart[]): void
}

export function createGatedModel(): GatedModel {
  const requests: ModelRequest[] = []
  let ready: ModelPart[][] = []
  let wake = () => {}
  return {
    provider: 'gated',
    name: 'gate',
    requests,
    say(...parts) {
      ready.push(parts)
      wake()
    },
    async stream(request, signal, take) {
      requests.push(request)
      signal.addEventListener('abort', () => wake())
      while (!signal.aborted) {
        const batches = ready
        ready = []
        for (const batch of batches) {
          await take(batch)
          if (batch.some((part) => part.type === 'finish')) return
        }
        if (ready.length > 0) continue
        await new Promise<void>((resolve) => {
          wake = resolve
          if (signal.aborted) resolve()
        })
      }
    },
    async check() {},
  }
}

export const text = (delta: string): ModelPart => ({ type: 'text', delta })
export const stop: ModelPart = { type: 'finish', reason: 'stop' }
