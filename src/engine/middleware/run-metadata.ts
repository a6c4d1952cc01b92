import type { Middleware } from './middleware.ts'

/** Adds fixed metadata to the first event of every run. */
export function createRunMetadata(metadata: Record<string, unknown>): Middleware {
  return (event) => (event.type === 'RUN_STARTED' ? { ...event, metadata: { ...event.metadata, ...metadata } } : event)
}
