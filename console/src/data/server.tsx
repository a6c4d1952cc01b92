import { type Client, createClient } from 'quarterdeck/client'
import { createContext, type ReactNode, useContext, useMemo } from 'react'
import { serverUrl } from '../base.ts'

const ClientContext = createContext<Client | null>(null)

/** Gives the pages below it a client that is signed in. */
export function ServerProvider({ token, children }: { token: string; children: ReactNode }) {
  const client = useMemo(() => createClient({ url: serverUrl, token, retries: 1 }), [token])
  return <ClientContext value={client}>{children}</ClientContext>
}

export function useClient(): Client {
  const client = useContext(ClientContext)
  if (client === null) throw new Error('only a page that is signed in has a client')
  return client
}
