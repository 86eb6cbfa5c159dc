/** Lines of JSON from programs whose formats are theirs: read by dotted place, never trusted to have a shape. */
export type Json = Readonly<Record<string, unknown>>;

export function objectOf(line: string): Json | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return isJson(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** `message.usage.input`, `parts.0.text`. */
export function at(value: unknown, place: string): unknown {
  return place.split(".").reduce<unknown>((inner, key) => {
    if (Array.isArray(inner)) return inner[Number(key)] as unknown;
    return isJson(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined;
  }, value);
}

export function textAt(value: unknown, place: string): string | undefined {
  const found = at(value, place);
  return typeof found === "string" ? found : undefined;
}

export function numberAt(value: unknown, place: string): number | undefined {
  const found = at(value, place);
  return typeof found === "number" && Number.isFinite(found) && found >= 0 ? found : undefined;
}

export function listAt(value: unknown, place: string): readonly unknown[] {
  const found = at(value, place);
  return Array.isArray(found) ? found : [];
}

function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
