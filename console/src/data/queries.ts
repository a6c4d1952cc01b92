import { QueryClient } from '@tanstack/react-query'
import { ClientError } from 'quarterdeck/client'

/** What the pages have read from the server. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // The stream says when something has changed.
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      // The last data stays on the page while the server is away.
      gcTime: 10 * 60_000,
      networkMode: 'always',
      retry: (count, error) =>
        count < 2 && !(error instanceof ClientError && error.status !== null && error.status < 500),
    },
    mutations: { networkMode: 'always' },
  },
})
