import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { Alert, Client, Prompt, Standby } from 'quarterdeck/client'
import { ClientError } from 'quarterdeck/client'
import { useState } from 'react'
import { useClient } from '../../data/server.tsx'
import { announce } from '../Announcer.tsx'
import { useFreshRecord } from './use-approval.ts'

interface Records {
  prompt: Prompt
  wait: Standby
  alert: Alert
}

const readers: { [K in keyof Records]: (client: Client, id: string, signal: AbortSignal) => Promise<Records[K]> } = {
  prompt: (client, id, signal) => client.prompts.get(id, { signal }),
  wait: (client, id, signal) => client.waits.get(id, { signal }),
  alert: (client, id, signal) => client.alerts.get(id, { signal }),
}

/** A record of an agent elsewhere, and a way to answer it. Nothing counts as answered before the server says so. */
export function useRecord<K extends keyof Records>(kind: K, id: string) {
  const client = useClient()
  const queries = useQueryClient()
  const [busy, setBusy] = useState<string | null>(null)
  const [problem, setProblem] = useState<unknown>(null)
  useFreshRecord(kind, id)
  const query = useQuery({
    queryKey: [kind, id],
    queryFn: ({ signal }) => readers[kind](client, id, signal),
  })

  /** `what`: the name of the button, which is busy meanwhile. */
  async function answer(what: string, send: (client: Client) => Promise<unknown>, done: string): Promise<boolean> {
    if (busy !== null) return false
    setBusy(what)
    setProblem(null)
    try {
      await send(client)
      announce(done)
      return true
    } catch (error) {
      const isLate = error instanceof ClientError && error.code === 'record_decided'
      if (isLate) announce(error.message)
      else setProblem(error)
      return isLate
    } finally {
      void queries.invalidateQueries({ queryKey: ['inbox'] })
      await queries.invalidateQueries({ queryKey: [kind, id] })
      setBusy(null)
    }
  }
  return { ...query, busy, problem, answer }
}
