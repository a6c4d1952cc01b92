// Collections of things that come and go: runs, readers, streams. V8 links each table of a Map or Set to the one that replaces it. A
// table that has reached the old space keeps all later ones alive until the next full collection, with everything they ever held: each
// run was copied twice and marked once for nothing, a fifth of the CPU of a run. So these begin a new table now and then.

/** How many may be added before a new table begins. Fewer than V8's nursery has space for. */
const ADDED_AT_MOST = 32

export class PassingMap<K, V> {
  #map = new Map<K, V>()
  #added = 0

  get size(): number {
    return this.#map.size
  }

  get(key: K): V | undefined {
    return this.#map.get(key)
  }

  has(key: K): boolean {
    return this.#map.has(key)
  }

  set(key: K, value: V): this {
    this.#added += 1
    if (this.#added > Math.max(ADDED_AT_MOST, this.#map.size)) {
      this.#map = new Map(this.#map)
      this.#added = 0
    }
    this.#map.set(key, value)
    return this
  }

  delete(key: K): boolean {
    return this.#map.delete(key)
  }

  clear(): void {
    this.#map = new Map()
  }

  keys(): MapIterator<K> {
    return this.#map.keys()
  }

  values(): MapIterator<V> {
    return this.#map.values()
  }
}

export class PassingSet<T> {
  readonly #map = new PassingMap<T, T>()

  get size(): number {
    return this.#map.size
  }

  add(one: T): this {
    this.#map.set(one, one)
    return this
  }

  delete(one: T): boolean {
    return this.#map.delete(one)
  }

  [Symbol.iterator](): MapIterator<T> {
    return this.#map.values()
  }
}
