import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useClient } from '../../data/server.tsx'
import { HOUR_MS, type Sample, withSample } from './samples.ts'

export const EVERY_MS = 5_000
const SAMPLES = ['stats-of-the-hour']
const none: Sample[] = []

/** How the server is doing, asked every few seconds while the page is open. */
export function useHealth() {
  const client = useClient()
  return useQuery({
    queryKey: ['health'],
    queryFn: ({ signal }) => client.health({ signal }),
    refetchInterval: EVERY_MS,
    retry: false,
  })
}

/** The figures of now, and of the last hour as far as this page was open. They stay when one leaves the page. */
export function useStats() {
  const client = useClient()
  const queries = useQueryClient()
  const stats = useQuery({
    queryKey: ['stats'],
    queryFn: ({ signal }) => client.stats({ signal }),
    refetchInterval: EVERY_MS,
    retry: false,
  })
  const { data: samples = none } = useQuery<Sample[]>({
    queryKey: SAMPLES,
    queryFn: () => none,
    enabled: false,
    gcTime: HOUR_MS,
  })
  const { data, dataUpdatedAt } = stats
  useEffect(() => {
    if (data === undefined) return
    const sample = { at: dataUpdatedAt, stats: data }
    queries.setQueryData<Sample[]>(SAMPLES, (was = none) => withSample(was, sample))
  }, [data, dataUpdatedAt, queries])
  return { ...stats, samples }
}

export function useChannels() {
  const client = useClient()
  return useQuery({
    queryKey: ['channels'],
    queryFn: ({ signal }) => client.channels.list({ signal }),
    refetchInterval: 6 * EVERY_MS,
  })
}
