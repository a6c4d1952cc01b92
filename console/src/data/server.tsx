import { type Client, createClient, type UploadedFile } from 'quarterdeck/client'
import { createContext, type ReactNode, useContext, useMemo } from 'react'
import { serverUrl } from '../base.ts'
import { uploadFetch } from './upload-fetch.ts'

export type Upload = (file: File, onProgress: (fraction: number) => void, signal: AbortSignal) => Promise<UploadedFile>

const ServerContext = createContext<{ client: Client; upload: Upload } | null>(null)

/** Gives the pages below it a client that is signed in. */
export function ServerProvider({ token, children }: { token: string; children: ReactNode }) {
  const server = useMemo(
    () => ({
      client: createClient({ url: serverUrl, token, retries: 1 }),
      upload: ((file, onProgress, signal) =>
        createClient({ url: serverUrl, token, retries: 0, fetch: uploadFetch(onProgress) }).upload(file, {
          signal,
        })) satisfies Upload,
    }),
    [token],
  )
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
