/** Everything, page by page. `read` gets the last one of the page before. */
export async function* pageByPage<T>(
  limit: number,
  read: (last: T | undefined) => Promise<readonly T[]>,
): AsyncGenerator<T> {
  let last: T | undefined
  for (;;) {
    const page = await read(last)
    yield* page
    if (page.length < limit) return
    last = page.at(-1)
  }
}
