/**
 * The content of a model call: all of it must be in the body, since the provider charges what it fetches too. Pure.
 *
 * Text and images in the body are priced. References (a URL, the id of a stored file), sound, video and documents, whose
 * size says nothing about their tokens, are refused. A type that is not known passes: its cost is bounded by its size.
 */
import { refused } from "./unpriced.ts";
import { tokenBound } from "./token-bound.ts";

type Block = Readonly<Record<string, unknown>>;

const CONTENT = [
  "messages",
  "input",
  "system",
  "instructions",
  "contents",
  "systemInstruction",
  "system_instruction",
];
/** What the model itself wrote, or a program answered, as free JSON. */
const FREE_JSON = [
  "arguments",
  "args",
  "functionCall",
  "function_call",
  "response",
  "input_schema",
  "parameters",
];
const REFERENCES = ["file_id", "file_url", "fileUri", "file_uri", "fileData", "file_data"];
const UNPRICED = /^(item_reference|container_upload|input_audio|audio|input_file|file|video|input_video)$/;
/** More than any provider charges for one image. */
const IMAGE_TOKENS = 50_000;

/** Throws ANT_EGRESS_MODEL for content that is not complete in the body. */
export function checkContent(body: Block): void {
  for (const key of CONTENT) check(body[key], key);
}

function check(value: unknown, at: string): void {
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) check(item, at);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  const block = value as Block;
  const { type } = block;
  const isUnpriced =
    (typeof type === "string" && UNPRICED.test(type)) || isReference(block) || isOtherMedia(block);
  if (isUnpriced)
    throw refused(
      "model:content",
      `content of type ${JSON.stringify(type ?? Object.keys(block)[0] ?? null)} in ${at} is not complete in the request`,
    );
  for (const [key, inner] of Object.entries(block)) {
    if (!isToolInput(block, key) && !FREE_JSON.includes(key)) check(inner, at);
  }
}

function isReference(block: Block): boolean {
  if (REFERENCES.some((key) => block[key] !== undefined && block[key] !== null)) return true;
  const { type, image_url, url } = block;
  const image = typeof image_url === "object" && image_url !== null ? (image_url as Block)["url"] : image_url;
  if (typeof image === "string" && !image.startsWith("data:image/")) return true;
  // A source of type `url`, or an image that is one.
  return typeof url === "string" && typeof type === "string" && !url.startsWith("data:image/");
}

/** Base64 of anything but an image. */
function isOtherMedia({
  type,
  media_type,
  inlineData,
  inline_data,
  mimeType,
  mime_type,
  data,
}: Block): boolean {
  for (const inline of [inlineData, inline_data]) {
    if (typeof inline === "object" && inline !== null && isOtherMedia(inline as Block)) return true;
  }
  if (typeof data !== "string") return false;
  const media = media_type ?? mimeType ?? mime_type;
  if (media === undefined) return type === "base64";
  return media !== "text/plain" && !(typeof media === "string" && media.startsWith("image/"));
}

/** Where a value stands: an image is one only in the field that the API has for images, never in text or a tool's input. */
interface Place {
  readonly key: string;
  readonly parent: Block;
  /** Below it the model reads JSON as text. */
  readonly isFreeJson: boolean;
}

const ANYWHERE: Place = { key: "", parent: {}, isFreeJson: false };
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const DATA_URL = /^data:image\/[a-z0-9.+-]{1,32};base64,/;

/** The most tokens of a value. Names count as text, and each value costs the signs around it. */
export function valueBound(value: unknown, place: Place = ANYWHERE): number {
  if (typeof value === "string") {
    const most = tokenBound(value);
    return 1 + (isImage(value, place) ? Math.min(IMAGE_TOKENS, most) : most);
  }
  if (Array.isArray(value))
    return (value as unknown[]).reduce<number>((sum, item) => sum + valueBound(item, place), 1);
  if (typeof value !== "object" || value === null) return 1 + String(value).length;
  const block = value as Block;
  let sum = 1;
  for (const [key, inner] of Object.entries(block)) {
    // `url` in an `image_url` belongs to the image as well.
    const parent = place.key === "image_url" && key === "url" ? { image_url: inner } : block;
    const isFreeJson = place.isFreeJson || FREE_JSON.includes(key) || isToolInput(block, key);
    const at = parent === block ? key : "image_url";
    sum += 1 + tokenBound(key) + valueBound(inner, { key: at, parent, isFreeJson });
  }
  return sum;
}

function isImage(text: string, { key, parent, isFreeJson }: Place): boolean {
  if (isFreeJson) return false;
  if (key === "image_url") {
    const head = DATA_URL.exec(text)?.[0];
    return head !== undefined && BASE64.test(text.slice(head.length));
  }
  return key === "data" && hasMedia(parent) && BASE64.test(text);
}

const isToolInput = ({ type }: Block, key: string): boolean =>
  key === "input" && typeof type === "string" && type.endsWith("tool_use");

function hasMedia({ media_type, mimeType, mime_type }: Block): boolean {
  const media = media_type ?? mimeType ?? mime_type;
  return typeof media === "string" && media.startsWith("image/");
}
