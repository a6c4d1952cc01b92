/** Does the work for each item, `atOnce` at a time. After a failure nothing new begins; it is thrown when what was under way has ended. */
export async function eachOf<T>(items: Iterable<T>, atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  const left = items[Symbol.iterator]()
  const failures: unknown[] = []
  const worker = async (): Promise<void> => {
    while (failures.length === 0) {
      const next = left.next()
      if (next.done === true) return
      await work(next.value).catch((error: unknown) => failures.push(error))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  if (failures.length > 0) throw failures[0]
}
