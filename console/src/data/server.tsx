import { type Client, createClient, type UploadedFile } from 'quarterdeck/client'
import { createContext, type ReactNode, useContext, useMemo } from 'react'
import { serverUrl } from '../base.ts'
import { credentialOf } from '../sign-in/device-token.ts'
import { outgoing, serverFetch } from './requests.ts'

export type Upload = (file: File, onProgress: (fraction: number) => void, signal: AbortSignal) => Promise<UploadedFile>

const ServerContext = createContext<{ client: Client; upload: Upload } | null>(null)

export interface SignedInProps {
  token: string
  /** The server no longer takes the token. */
  onRefused: () => void
  children: ReactNode
}

/** Gives the pages below it a client that is signed in. */
export function ServerProvider({ token, onRefused, children }: SignedInProps) {
  const server = useMemo(() => {
    const watched: typeof fetch = async (input, init) => {
      const response = await serverFetch(input, init)
      if (response.status === 401) onRefused()
      return response
    }
    const server = { url: serverUrl, ...credentialOf(token) }
    const upload: Upload = (file, onProgress, signal) =>
      createClient({ ...server, retries: 0, fetch: outgoing(uploadFetch(onProgress)) }).upload(file, { signal })
    return { client: createClient({ ...server, retries: 1, fetch: watched }), upload }
  }, [token, onRefused])
  return <ServerContext value={server}>{children}</ServerContext>
}

function useServer() {
  const server = useContext(ServerContext)
  if (server === null) throw new Error('only a page that is signed in has a client')
  return server
}

export const useClient = (): Client => useServer().client
/** Uploads a file and tells how much of it has gone out. */
export const useUpload = (): Upload => useServer().upload

// `fetch` says nothing about how much of an upload has gone out, XMLHttpRequest does. This one behaves like `fetch` for the client.

function uploadFetch(onProgress: (fraction: number) => void): typeof fetch {
  return (input, init) =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest()
      request.open(init?.method ?? 'GET', input instanceof Request ? input.url : String(input))
      for (const [name, value] of new Headers(init?.headers)) request.setRequestHeader(name, value)
      request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0)
      request.onload = () => resolve(new Response(request.responseText || null, { status: request.status }))
      request.onerror = () => reject(new TypeError('The connection broke.'))
      request.onabort = () => reject(init?.signal?.reason ?? new DOMException('Aborted', 'AbortError'))
      init?.signal?.addEventListener('abort', () => request.abort(), { once: true })
      request.send((init?.body ?? null) as XMLHttpRequestBodyInit | null)
    })
}
